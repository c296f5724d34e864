#include "textflag.h"

#define SYS_write 1
#define SYS_rt_sigreturn 15

// caught(signo int32): the kernel calls it as a C function, on the signal stack
// of the thread. It writes one byte to the pipe; a full pipe loses the signal.
// The kernel restores every register.
TEXT caught<>(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	SUBQ $24, SP
	MOVB DI, 0(SP)
	MOVL ·writeEnd(SB), DI
	MOVQ SP, SI
	MOVL $1, DX
	MOVL $SYS_write, AX
	SYSCALL
	ADDQ $24, SP
	RET

TEXT returned<>(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	MOVL $SYS_rt_sigreturn, AX
	SYSCALL
	INT $3

DATA ·handler(SB)/8, $caught<>(SB)
GLOBL ·handler(SB), RODATA, $8
DATA ·restorer(SB)/8, $returned<>(SB)
GLOBL ·restorer(SB), RODATA, $8
