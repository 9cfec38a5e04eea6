mae'r môr yn fawr
cwch

ble mae'r bont?
diwedd