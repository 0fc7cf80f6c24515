# The headers have plain comments: the one above declarations documents all of them up to an empty line, and the one behind
# fields documents each of them. Fields without one are explained in the comment of their struct. Lines keep their numbers.
function escape(text) {
    gsub(/@/, "\\@", text)
    gsub(/<-/, "\\&lt;-", text)
    return text
}
function fields(   comment, type, name, count, k, out) {
    comment = "explained above"
    if (match(held, /\/\*.*\*\//)) {
        comment = substr(held, RSTART + 3, RLENGTH - 6)
        held = substr(held, 1, RSTART - 1)
    }
    sub(/;[^;]*$/, "", held)
    type = ""
    if (held !~ /\(/ && match(held, /^ *(const )?[a-z0-9_]+ /)) {
        type = substr(held, 1, RLENGTH)
        held = substr(held, RLENGTH + 1)
        count = split(held, name, /, */)
    } else
        count = split(held, name, /;/)
    for (k = 1; k <= count; k++) out = out type name[k] "; /**< " comment " */ "
    print out
    while (--lines) print ""
    held = ""
}
{ $0 = escape($0) }
!first && sub(/\*\//, "\\file */") { first = NR } # the comment at the top is that of the file
/^typedef struct .*\{$/ { inside = 1; print; next }
/^\}/ { inside = 0 }
inside && (held != "" || $0 !~ /^ *\/\*/) {
    piece = $0
    if (held != "") sub(/^ *(\* )?/, " ", piece)
    held = held piece
    lines++
    open = index(held, "/*")
    if (open ? held ~ /\*\// : held ~ /;/) { if (open == 0 || held ~ /;.*\/\*/) fields() }
    next
}
/^$/ { comment = "" }
/^(\/\*.*)?$/ { shared = 0 }
/^\/\* / || commenting { # what the next declarations have in common
    comment = commenting ? comment " " substr($0, 3) : substr($0, 4)
    commenting = $0 !~ /\*\//
    if ($0 ~ /\/\* ----/) comment = ""
}
/^(SVMP_API|typedef) / {
    if (shared && comment != "") $0 = "/** " comment " " $0
    shared = 1
}
!/\/\* ----/ && !sub(/^ *\/\* /, "/** ") { sub(/ \/\* /, " /**< ") } # headings document nothing
{ print }
