/* Where each group of instructions is described. "RDNA3 ISA guide" is "RDNA3" Instruction Set Architecture, Reference
 * Guide, of 15 August 2023; "RDNA3.5 ISA guide" is its successor for gfx115x (2024), which repeats it and adds scalar
 * floats. Pages are those of the whole section. "RDNA4 ISA guide" is "RDNA4" Instruction Set Architecture, Reference
 * Guide, of 8 April 2025 (AMD document 70651); its chapter 16 describes the instructions of each encoding in turn. */
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

#define ISA_RDNA4_SOP2    "RDNA4 ISA guide, 16 Instructions, SOP2"
#define ISA_RDNA4_SOPK    "RDNA4 ISA guide, 16 Instructions, SOPK"
#define ISA_RDNA4_SOP1    "RDNA4 ISA guide, 16 Instructions, SOP1"
#define ISA_RDNA4_SOPC    "RDNA4 ISA guide, 16 Instructions, SOPC"
#define ISA_RDNA4_SOPP    "RDNA4 ISA guide, 16 Instructions, SOPP"
#define ISA_RDNA4_SMEM    "RDNA4 ISA guide, 16 Instructions, SMEM"
#define ISA_RDNA4_VOP2    "RDNA4 ISA guide, 16 Instructions, VOP2"
#define ISA_RDNA4_VOP1    "RDNA4 ISA guide, 16 Instructions, VOP1"
#define ISA_RDNA4_VOPC    "RDNA4 ISA guide, 16 Instructions, VOPC"
#define ISA_RDNA4_VOP3P   "RDNA4 ISA guide, 16 Instructions, VOP3P"
#define ISA_RDNA4_VOPD    "RDNA4 ISA guide, 16 Instructions, VOPD"
#define ISA_RDNA4_VOP3    "RDNA4 ISA guide, 16 Instructions, VOP3 & VOP3SD"
#define ISA_RDNA4_LDS     "RDNA4 ISA guide, 16 Instructions, DS"
#define ISA_RDNA4_FLAT    "RDNA4 ISA guide, 16 Instructions, Flat"
#define ISA_RDNA4_SCRATCH "RDNA4 ISA guide, 16 Instructions, Scratch"
#define ISA_RDNA4_GLOBAL  "RDNA4 ISA guide, 16 Instructions, Global"
#define ISA_RDNA4_WMMA    "RDNA4 ISA guide, 16 Instructions, VOP3P; 7.12 WMMA"

#endif
