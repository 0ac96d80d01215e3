/** A Python program that prints what the CPUID instruction answers for some leaves that the engine leaves out of its own answers (`pkg/cpuid`, allowedBasicFunctions). */
export const cpuidProgram = `
import ctypes, mmap
# push rbx; mov eax, edi; xor ecx, ecx; mov r8, rsi; cpuid; mov [r8], eax; mov [r8+4], ebx; mov [r8+8], ecx; mov [r8+12], edx; pop rbx; ret
code = bytes.fromhex("53 89f8 31c9 4989f0 0fa2 418900 41895804 41894808 4189500c 5b c3")
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
call = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_void_p)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
answer = (ctypes.c_uint32 * 4)()
for leaf in (0x6, 0x80000007):
    call(leaf, ctypes.addressof(answer))
    print(*map(hex, answer))
`;
