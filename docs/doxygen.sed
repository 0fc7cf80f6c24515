# The headers have plain comments. The one above a declaration documents it, and so does the one behind a field.
s|^\( *\)/\* |\1/** |
s|\([;,]\) */\* |\1 /**< |
s|@|\\@|g
s|<-|\&lt;-|g
