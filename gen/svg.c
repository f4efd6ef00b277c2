#include "svg.h"

#include <string.h>

void svg_begin(struct text *out, int width, int height) {
    text_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n",
                width, height, width, height);
}

void svg_style(struct text *out, const char *rules) {
    text_puts(out, "<style>\n"
                   "text { font: 11px sans-serif; fill: #222 }\n"
                   ".title { font-size: 17px; font-weight: bold } .name { font-size: 14px; font-weight: bold }\n"
                   ".note { font-size: 11px; font-weight: normal } .cell { font: 10px monospace }\n"
                   ".cell, .middle { text-anchor: middle } .end { text-anchor: end } .axis { fill: #777 }\n");
    text_puts(out, rules);
    text_puts(out, "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

void svg_end(struct text *out) {
    text_puts(out, "</svg>\n");
}

void svg_escape(struct text *out, const char *words) {
    static const char special[] = "<>&\"";
    static const char *const names[] = {"&lt;", "&gt;", "&amp;", "&quot;"};
    while (*words) {
        size_t plain = strcspn(words, special);
        text_add(out, words, plain);
        words += plain;
        if (*words)
            text_puts(out, names[strchr(special, *words++) - special]);
    }
}
