/* The texts of --help. */
#ifndef GEN_CLI_HELP_H
#define GEN_CLI_HELP_H

#include "cli.h"
#include "text.h"

/* What fits one screen of 24 lines and 80 columns and names every command. */
void help_screen(struct text *out);

/* All of one command, at most 80 columns wide. */
void help_command(const struct command *command, struct text *out);

#endif
