const LOAD_ADDRESS = 0x400000;
const ELF_HEADER = 64;
const PROGRAM_HEADER = 56;
const CODE_AT = ELF_HEADER + PROGRAM_HEADER;
const SIGCHLD = 17;
const SIG_IGN = 1n;
const SIGSET_SIZE = 8;

/** Where the init of a box is, inside. */
export const INIT_PATH = '/.svc/init';

/**
 * PID 1 of every box: a static ELF program of about 200 bytes that ignores SIGCHLD, so that the kernel itself
 * reaps every orphan, and then waits for ever. As PID 1 it is deaf to all signals from inside; a SIGKILL from
 * outside ends it and with it the whole box (pid_namespaces(7)). It needs no file, no library, no heap.
 */
export function initProgram(architecture: string = process.arch): Uint8Array {
  if (architecture === 'x64') return elf(62, x64Code);
  if (architecture === 'arm64') return elf(183, arm64Code);
  throw new Error(`no init program for ${architecture}`);
}

/**
 * The file: ELF header, one program header, code, and the argument of rt_sigaction right behind the code.
 * Everything is loaded by one read-only, executable segment (elf(5)).
 */
function elf(machine: number, makeCode: (actionAddress: number) => Uint8Array): Uint8Array {
  const actionAt = CODE_AT + makeCode(0).length;
  const code = makeCode(LOAD_ADDRESS + actionAt);
  const action = ignoreAction();
  const file = new Uint8Array(actionAt + action.length);
  const view = new DataView(file.buffer);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]); // magic, 64 bit, little endian, version 1
  view.setUint16(16, 2, true); // e_type: ET_EXEC
  view.setUint16(18, machine, true); // e_machine
  view.setUint32(20, 1, true); // e_version
  view.setBigUint64(24, BigInt(LOAD_ADDRESS + CODE_AT), true); // e_entry
  view.setBigUint64(32, BigInt(ELF_HEADER), true); // e_phoff
  view.setUint16(52, ELF_HEADER, true); // e_ehsize
  view.setUint16(54, PROGRAM_HEADER, true); // e_phentsize
  view.setUint16(56, 1, true); // e_phnum
  view.setUint32(64, 1, true); // p_type: PT_LOAD
  view.setUint32(68, 5, true); // p_flags: readable, executable
  view.setBigUint64(80, BigInt(LOAD_ADDRESS), true); // p_vaddr
  view.setBigUint64(88, BigInt(LOAD_ADDRESS), true); // p_paddr
  view.setBigUint64(96, BigInt(file.length), true); // p_filesz
  view.setBigUint64(104, BigInt(file.length), true); // p_memsz
  view.setBigUint64(112, 4096n, true); // p_align
  file.set(code, CODE_AT);
  file.set(action, actionAt);
  return file;
}

/** The kernel's struct sigaction: handler SIG_IGN, no flags, no restorer, empty mask. */
function ignoreAction(): Uint8Array {
  const bytes = new Uint8Array(32);
  new DataView(bytes.buffer).setBigUint64(0, SIG_IGN, true);
  return bytes;
}

function x64Code(actionAddress: number): Uint8Array {
  const address = [0, 8, 16, 24].map((shift) => (actionAddress >> shift) & 0xff);
  return new Uint8Array([
    ...[0xb8, 13, 0, 0, 0], // mov eax, 13 (rt_sigaction)
    ...[0xbf, SIGCHLD, 0, 0, 0], // mov edi, SIGCHLD
    ...[0xbe, ...address], // mov esi, action
    ...[0x31, 0xd2], // xor edx, edx: the old action is not wanted
    ...[0x41, 0xba, SIGSET_SIZE, 0, 0, 0], // mov r10d, 8
    ...[0x0f, 0x05], // syscall
    ...[0xb8, 34, 0, 0, 0], // wait: mov eax, 34 (pause)
    ...[0x0f, 0x05], // syscall
    ...[0xeb, 0xf7], // jmp wait (nine bytes back)
  ]);
}

function arm64Code(actionAddress: number): Uint8Array {
  const words = [
    movz(8, 134), // mov x8, 134 (rt_sigaction)
    movz(0, SIGCHLD), // mov x0, SIGCHLD
    movz(1, actionAddress & 0xffff), // mov x1, low half of action
    movkHigh(1, actionAddress >>> 16), // movk x1, high half, lsl 16
    movz(2, 0), // mov x2, 0: the old action is not wanted
    movz(3, SIGSET_SIZE), // mov x3, 8
    SVC, // svc 0
    ...[0, 1, 2, 3, 4].map((register) => movz(register, 0)), // wait: no descriptors, no time, no mask
    movz(8, 73), // mov x8, 73 (ppoll: this architecture has no pause)
    SVC, // svc 0
    0x17fffff9, // b wait (seven instructions back)
  ];
  const code = new Uint8Array(words.length * 4);
  const view = new DataView(code.buffer);
  for (const [i, word] of words.entries()) view.setUint32(i * 4, word, true);
  return code;
}

const SVC = 0xd4000001;
const movz = (register: number, value: number): number => (0xd2800000 | (value << 5) | register) >>> 0;
const movkHigh = (register: number, value: number): number => (0xf2a00000 | (value << 5) | register) >>> 0;
