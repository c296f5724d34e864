#include "textflag.h"

// Compiled Go reads the current goroutine from 8 bytes below FS, and its stack
// limit from that, at every call. A goroutine of zeros has no limit. The runtime
// sets FS anew.
GLOBL goroutine<>(SB), NOPTR, $1024
GLOBL thread<>(SB), NOPTR, $16

#define SYS_arch_prctl 158
#define ARCH_SET_FS 0x1002

// func entry()
TEXT ·entry(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	MOVQ $SYS_arch_prctl, AX
	MOVQ $ARCH_SET_FS, DI
	LEAQ thread<>+8(SB), SI
	SYSCALL
	LEAQ goroutine<>(SB), AX
	MOVQ AX, thread<>+0(SB)
	MOVQ SP, BX
	SUBQ $32, SP
	ANDQ $~15, SP
	MOVQ BX, 0(SP)  // the argument
	MOVQ BX, 16(SP)
	CALL ·early(SB)
	MOVQ 16(SP), SP
	JMP  _rt0_amd64_linux(SB)
