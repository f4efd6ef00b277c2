/* Where each group of instructions is described. "RDNA3 ISA guide" is "RDNA3" Instruction Set Architecture, Reference
 * Guide, of 15 August 2023; "RDNA3.5 ISA guide" is its successor for gfx115x (2024), which repeats it and adds scalar
 * floats. Pages are those of the whole section. */
#ifndef ISA_SOURCES_H
#define ISA_SOURCES_H

#define ISA_SOP2       "RDNA3.5 ISA guide, 16.1 SOP2, pp. 199-215"
#define ISA_SOPK       "RDNA3 ISA guide, 16.2 SOPK, pp. 209-216"
#define ISA_SOP1       "RDNA3 ISA guide, 16.3 SOP1, pp. 217-237"
#define ISA_SOP1_FLOAT "RDNA3.5 ISA guide, 16.3 SOP1; 6.8 SALU Floating Point, p. 62"
#define ISA_SOPC       "RDNA3 ISA guide, 16.4 SOPC, pp. 238-241"
#define ISA_SOPC_FLOAT "RDNA3.5 ISA guide, 16.4 SOPC; 6.8 SALU Floating Point, p. 62"
#define ISA_SOPP       "RDNA3 ISA guide, 16.5 SOPP, pp. 242-254"
#define ISA_SMEM       "RDNA3.5 ISA guide, 16.6 SMEM, pp. 271-275"
#define ISA_VOP2       "RDNA3.5 ISA guide, 16.7 VOP2, pp. 276-291"
#define ISA_VOP1       "RDNA3.5 ISA guide, 16.8 VOP1, pp. 292-321"
#define ISA_VOPC       "RDNA3.5 ISA guide, 16.9 VOPC, pp. 322-381"
#define ISA_VOP3P      "RDNA3.5 ISA guide, 16.10 VOP3P, pp. 382-392"
#define ISA_VOP3       "RDNA3.5 ISA guide, 16.12 VOP3 & VOP3SD, pp. 398-537"
#define ISA_LDS        "RDNA3.5 ISA guide, 16.15 LDS & GDS, pp. 544-581"
#define ISA_MUBUF      "RDNA3.5 ISA guide, 16.16 MUBUF, pp. 582-599"
#define ISA_FLAT       "RDNA3.5 ISA guide, 16.20.1 Flat, pp. 623-634"
#define ISA_SCRATCH    "RDNA3.5 ISA guide, 16.20.2 Scratch, pp. 635-639"
#define ISA_GLOBAL     "RDNA3.5 ISA guide, 16.20.3 Global, pp. 640-653"

#endif
