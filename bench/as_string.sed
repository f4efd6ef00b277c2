# Each line of a text becomes a string literal of C.
s/["\\]/\\&/g
s/.*/"&\\n"/
