#include "textflag.h"

// Numbers of asm/unistd_64.h and asm-generic/mman-common.h.
#define SYS_mmap 9
#define SYS_madvise 28
#define MAP_FIXED 0x10
#define MADV_HUGEPAGE 14

// What the heap grows by at least: runtime.pallocChunkBytes.
#define GROWTH 0x400000

// func Advise()
TEXT ·Advise(SB), NOSPLIT, $0
	LEAQ ·mmap(SB), AX
	MOVQ AX, _cgo_mmap(SB)
	RET

// func mmap()
TEXT ·mmap(SB), NOSPLIT|NOFRAME, $0
	MOVL  CX, R10 // the kernel has the fourth argument there
	MOVL  $SYS_mmap, AX
	SYSCALL
	CMPQ  AX, $-4095
	JCC   failed
	CMPQ  SI, $GROWTH
	JNE   mapped
	TESTL $MAP_FIXED, R10
	JEQ   mapped
	MOVQ  $0, _cgo_mmap(SB)
	MOVQ  AX, R8 // which a system call keeps
	MOVQ  AX, DI
	MOVL  $MADV_HUGEPAGE, DX
	MOVL  $SYS_madvise, AX
	SYSCALL
	MOVQ  R8, AX
mapped:
	RET
failed:
	NEGQ AX
	RET
