#include "textflag.h"

#define SYS_write 64

// caught(signo int32): the kernel calls it as a C function, on the signal stack
// of the thread. It writes one byte to the pipe; a full pipe loses the signal.
// It returns to the kernel's own code for sigreturn(2), which restores every
// register.
TEXT caught<>(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	SUB $16, RSP
	MOVB R0, (RSP)
	MOVW ·writeEnd(SB), R0
	MOVD RSP, R1
	MOVD $1, R2
	MOVD $SYS_write, R8
	SVC
	ADD $16, RSP
	RET

DATA ·handler(SB)/8, $caught<>(SB)
GLOBL ·handler(SB), RODATA, $8
