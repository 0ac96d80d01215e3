#include "textflag.h"

// nothing is a signal handler that returns at once: on amd64 to the restorer, on arm64 to what the kernel put into the link register.
TEXT nothing<>(SB),NOSPLIT|NOFRAME,$0-0
	RET

DATA ·nothing(SB)/8, $nothing<>(SB)
GLOBL ·nothing(SB), RODATA|NOPTR, $8
