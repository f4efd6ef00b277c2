/* One wave with registers, LDS, scratch and memory, which executes single instructions of one family; no LLVM and no
 * code object is needed. Everything asserts.
 *
 * Texts are as the disassembler writes them, but for the mnemonic, which is the name of a row: the machine puts in its
 * place the mnemonic that its family has for that row, of several each in its turn. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "family.h"
#include "isa.h"

enum { MACHINE_VGPRS = 64, MACHINE_LDS_BYTES = 4096, MACHINE_SCRATCH_BYTES = 256, MACHINE_MEMORY_BYTES = 4096 };

typedef struct machine machine;

/* Machines made from now on are of this family; at first of gfx11. */
void machine_use(const isa_family *family);
const isa_family *machine_family(void);

/* Whether the family has a mnemonic for that row; for the row of a text. */
bool machine_has(const char *row);
bool machine_takes(const char *text);

/* Lanes of its smallest waves. */
unsigned machine_least(void);

/* The mnemonics of the family that no machine has executed, each behind a blank. */
void machine_missing(char *missing, size_t bytes);

/* A wave of 32 or 64 lanes, if the family has such, all of them on. Registers hold 0; `checks`: reads of what was not
 * written are findings. */
machine *machine_new(unsigned lanes, bool checks);
void machine_free(machine *machine);

isa_wave *machine_wave(machine *machine);
unsigned char *machine_lds(machine *machine);
unsigned char *machine_scratch(machine *machine, int lane);
unsigned char *machine_memory(machine *machine); /* an allocation of the device's */

/* What `draw` returns, one after the other: in the first vector registers, lane by lane, and in bytes. */
void machine_fill(machine *machine, unsigned registers, uint32_t (*draw)(void));
void machine_fill_bytes(unsigned char *to, size_t bytes, uint32_t (*draw)(void));

void machine_set_exec(machine *machine, uint64_t mask);

/* Decodes and executes one instruction; it must be known. */
void machine_run(machine *machine, const char *text);

/* As machine_run, and keeps it decoded: runs it again on other values. */
void machine_load(machine *machine, const char *text);
void machine_step(machine *machine);

/* What it decoded last, with the family's mnemonic. */
const char *machine_text(const machine *machine);

/* The reason why decode refuses the text; fails if it does not. */
const char *machine_refusal(machine *machine, const char *text);

/* Kind and text of the only finding; "" and "" when there is none. Forgets it. */
void machine_finding(machine *machine, char kind[64], char text[1024]);
/* The only finding is of this kind and its text has this part; "" and "": there is none. Forgets it. */
void machine_expect(machine *machine, const char *kind, const char *part);

#endif
