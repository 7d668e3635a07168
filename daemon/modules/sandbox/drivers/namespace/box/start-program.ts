import { arm64 } from '../../programs/arm64.ts';
import { type Code, elf, word } from '../../programs/elf.ts';

/** Where the start program is, inside a box. */
export const START_PATH = '/.svc/start';
/** The descriptor from which it reads what to become. */
export const ORDER_FD = 3;
/** The descriptor to which it says why it could not: the step, then the errno. */
export const STATUS_FD = 4;

const AREA = { address: 0x10000000, size: 0x400000 } as const;
const AREA_END = AREA.address + AREA.size;
const TERMINAL_AT = 24;
const CANDIDATES_AT = 32;
/** Which step the status tells of: entering the directory, executing a candidate, opening the terminal. */
export const STEPS = ['cwd', 'program', 'terminal'] as const;

/** What a process is to become. */
export interface Order {
  readonly cwd: string;
  readonly argv: readonly string[];
  readonly env: readonly string[];
  /** The terminal that it gets as stdin, stdout, stderr and controlling terminal, as a path inside. */
  readonly terminal?: string;
}

/**
 * A program that waits in a box until it is told what to become: it reads an order (`orderBytes`) to the end,
 * takes its terminal, enters the directory and executes the first candidate that there is. An empty order, which is also what a
 * daemon leaves that died, ends it. Errors: an architecture it is not written for.
 */
export function startProgram(architecture: string = process.arch): Uint8Array {
  const data = new Uint8Array(0);
  if (architecture === 'x64') return elf({ architecture, code: () => X64_CODE, data, area: AREA });
  if (architecture === 'arm64') return elf({ architecture, code: () => ARM64_CODE, data, area: AREA });
  throw new Error(`no start program for ${architecture}`);
}

/**
 * An order as the program wants it: an image of its memory, with the addresses of the directory, argv, the
 * environment, the terminal (0 for none) and the candidates in front. Undefined when it does not fit.
 */
export function orderBytes({ cwd, argv, env, terminal }: Order): Uint8Array | undefined {
  const candidates = candidatesOf(argv[0] ?? '', env);
  const last = terminal === undefined ? [] : [terminal];
  const texts = [cwd, ...argv, ...env, ...candidates, ...last].map((text) =>
    new TextEncoder().encode(`${text}\0`),
  );
  const argvAt = CANDIDATES_AT + 8 * (candidates.length + 1);
  const envAt = argvAt + 8 * (argv.length + 1);
  const textsAt = envAt + 8 * (env.length + 1);
  const length = texts.reduce((sum, text) => sum + text.length, textsAt);
  if (length >= AREA.size) return undefined;
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  let next = textsAt;
  const addresses = texts.map((text) => {
    bytes.set(text, next);
    next += text.length;
    return AREA.address + next - text.length;
  });
  const put = (at: number, list: readonly number[]) => {
    for (const [i, address] of list.entries()) view.setBigUint64(at + 8 * i, BigInt(address), true);
  };
  put(0, [addresses[0] ?? 0, AREA.address + argvAt, AREA.address + envAt]);
  put(argvAt, addresses.slice(1, 1 + argv.length));
  put(envAt, addresses.slice(1 + argv.length, 1 + argv.length + env.length));
  put(CANDIDATES_AT, addresses.slice(1 + argv.length + env.length, texts.length - last.length));
  put(TERMINAL_AT, terminal === undefined ? [0] : addresses.slice(-1));
  return bytes;
}

/** The paths at which a program may be: itself when it has a slash, else in the folders of PATH. */
function candidatesOf(program: string, env: readonly string[]): string[] {
  if (program.includes('/')) return [program];
  if (program === '') return [];
  const path = env.findLast((entry) => entry.startsWith('PATH='))?.slice('PATH='.length) ?? '';
  return path.split(':').map((folder) => `${folder || '.'}/${program}`);
}

const jump = (to: string): Code => ({ jump: { x64: 0xeb }, to });
const SYSCALL = [0x0f, 0x05];

const X64_CODE: Code[] = [
  [0x41, 0xbc, ...word(AREA.address)], // mov r12d, area: where the next bytes go
  { label: 'read' },
  [0x31, 0xc0], // xor eax, eax (read)
  [0xbf, ...word(ORDER_FD)], // mov edi, order
  [0x4c, 0x89, 0xe6], // mov rsi, r12
  [0xba, ...word(AREA_END)], // mov edx, end of the area
  [0x44, 0x29, 0xe2], // sub edx, r12d: as much as fits
  SYSCALL,
  [0x48, 0x85, 0xc0], // test rax, rax
  { jump: { x64: 0x7e }, to: 'whole' }, // jle whole
  [0x49, 0x01, 0xc4], // add r12, rax
  jump('read'),
  { label: 'quit' },
  [0x31, 0xff], // xor edi, edi
  [0xb8, ...word(60)], // mov eax, 60 (exit)
  SYSCALL,
  { label: 'whole' },
  [0x41, 0x81, 0xfc, ...word(AREA.address)], // cmp r12d, area
  { jump: { x64: 0x74 }, to: 'quit' }, // je quit: nothing came
  [0xb8, ...word(72)], // mov eax, 72 (fcntl)
  [0xbf, ...word(STATUS_FD)], // mov edi, status
  [0xbe, ...word(2)], // mov esi, F_SETFD
  [0xba, ...word(1)], // mov edx, FD_CLOEXEC
  SYSCALL,
  [0xb8, ...word(3)], // mov eax, 3 (close)
  [0xbf, ...word(ORDER_FD)], // mov edi, order
  SYSCALL,
  [0xbb, ...word(AREA.address)], // mov ebx, area
  [0x48, 0x83, 0x7b, TERMINAL_AT, 0x00], // cmp qword [rbx + 24], 0
  { jump: { x64: 0x74 }, to: 'plain' }, // je plain: no terminal
  [0xb8, ...word(112)], // mov eax, 112 (setsid: it may be the leader already)
  SYSCALL,
  [0xb8, ...word(2)], // mov eax, 2 (open: the first terminal of a leader is its own)
  [0x48, 0x8b, 0x7b, TERMINAL_AT], // mov rdi, [rbx + 24]: the terminal
  [0xbe, ...word(2)], // mov esi, O_RDWR
  [0x31, 0xd2], // xor edx, edx
  SYSCALL,
  [0x85, 0xc0], // test eax, eax
  { jump: { x64Far: 0x88 }, to: 'closed' }, // js closed
  [0x41, 0x89, 0xc7], // mov r15d, eax
  ...[0, 1, 2].flatMap((to): Code[] => [
    [0xb8, ...word(33)], // mov eax, 33 (dup2)
    [0x44, 0x89, 0xff], // mov edi, r15d
    [0xbe, ...word(to)], // mov esi, to
    SYSCALL,
  ]),
  [0xb8, ...word(3)], // mov eax, 3 (close)
  [0x44, 0x89, 0xff], // mov edi, r15d
  SYSCALL,
  { label: 'plain' },
  [0xb8, ...word(80)], // mov eax, 80 (chdir)
  [0x48, 0x8b, 0x3b], // mov rdi, [rbx]: the directory
  SYSCALL,
  [0x85, 0xc0], // test eax, eax
  { jump: { x64: 0x78 }, to: 'nowhere' }, // js nowhere
  [0x4c, 0x8d, 0x6b, CANDIDATES_AT], // lea r13, [rbx + 32]: the candidates
  [0x41, 0xbe, ...word(-2)], // mov r14d, -ENOENT: the reason when there is none
  { label: 'next' },
  [0x49, 0x8b, 0x7d, 0x00], // mov rdi, [r13]
  [0x48, 0x85, 0xff], // test rdi, rdi
  { jump: { x64: 0x74 }, to: 'none' }, // jz none
  [0xb8, ...word(59)], // mov eax, 59 (execve)
  [0x48, 0x8b, 0x73, 0x08], // mov rsi, [rbx + 8]: argv
  [0x48, 0x8b, 0x53, 0x10], // mov rdx, [rbx + 16]: the environment
  SYSCALL,
  [0x83, 0xf8, 0xfe], // cmp eax, -ENOENT
  [0x44, 0x0f, 0x45, 0xf0], // cmovne r14d, eax: a better reason than that it is not there
  [0x49, 0x83, 0xc5, 0x08], // add r13, 8
  jump('next'),
  { label: 'nowhere' },
  [0xc6, 0x43, 0x01, 0], // mov byte [rbx + 1], 0: the step
  jump('tell'),
  { label: 'closed' },
  [0xc6, 0x43, 0x01, 2], // mov byte [rbx + 1], 2: the step
  jump('tell'),
  { label: 'none' },
  [0x44, 0x89, 0xf0], // mov eax, r14d
  [0xc6, 0x43, 0x01, 1], // mov byte [rbx + 1], 1: the step
  { label: 'tell' },
  [0xf7, 0xd8], // neg eax
  [0x88, 0x03], // mov [rbx], al: the errno
  [0xb8, ...word(1)], // mov eax, 1 (write)
  [0xbf, ...word(STATUS_FD)], // mov edi, status
  [0xbe, ...word(AREA.address)], // mov esi, area
  [0xba, ...word(2)], // mov edx, 2
  SYSCALL,
  [0xbf, ...word(127)], // mov edi, 127
  [0xb8, ...word(60)], // mov eax, 60 (exit)
  SYSCALL,
];

const [EQUAL, LESS, LESS_OR_EQUAL] = [0, 11, 13];

const ARM64_CODE: Code[] = [
  arm64.setHigh(20, AREA.address >>> 16), // x20: the area
  arm64.raw(0xaa1403f3), // mov x19, x20: where the next bytes go
  { label: 'read' },
  arm64.set(0, ORDER_FD),
  arm64.raw(0xaa1303e1), // mov x1, x19
  arm64.setHigh(2, AREA_END >>> 16),
  arm64.raw(0xcb130042), // sub x2, x2, x19: as much as fits
  arm64.call(63), // read
  arm64.raw(0xf100001f), // cmp x0, #0
  arm64.jumpIf(LESS_OR_EQUAL, 'whole'),
  arm64.raw(0x8b000273), // add x19, x19, x0
  arm64.jump('read'),
  { label: 'whole' },
  arm64.raw(0xeb14027f), // cmp x19, x20
  arm64.jumpIf(EQUAL, 'quit'), // nothing came
  arm64.set(0, STATUS_FD),
  arm64.set(1, 2), // F_SETFD
  arm64.set(2, 1), // FD_CLOEXEC
  arm64.call(25), // fcntl
  arm64.set(0, ORDER_FD),
  arm64.call(57), // close
  arm64.raw(0xf9400e80), // ldr x0, [x20, #24]: the terminal
  arm64.jumpIfZero(0, 'plain'),
  arm64.call(157), // setsid: it may be the leader already
  arm64.raw(0x92800c60), // mov x0, AT_FDCWD
  arm64.raw(0xf9400e81), // ldr x1, [x20, #24]
  arm64.set(2, 2), // O_RDWR
  arm64.set(3, 0),
  arm64.call(56), // openat: the first terminal of a leader is its own
  arm64.raw(0xf100001f), // cmp x0, #0
  arm64.jumpIf(LESS, 'closed'),
  arm64.raw(0xaa0003f7), // mov x23, x0
  ...[0, 1, 2].flatMap((to): Code[] => [
    arm64.raw(0xaa1703e0), // mov x0, x23
    arm64.set(1, to),
    arm64.set(2, 0),
    arm64.call(24), // dup3
  ]),
  arm64.raw(0xaa1703e0), // mov x0, x23
  arm64.call(57), // close
  { label: 'plain' },
  arm64.raw(0xf9400280), // ldr x0, [x20]: the directory
  arm64.call(49), // chdir
  arm64.raw(0xf100001f), // cmp x0, #0
  arm64.jumpIf(LESS, 'nowhere'),
  arm64.raw(0x91008295), // add x21, x20, #32: the candidates
  arm64.raw(0x92800036), // mov x22, -ENOENT: the reason when there is none
  { label: 'next' },
  arm64.raw(0xf94002a0), // ldr x0, [x21]
  arm64.jumpIfZero(0, 'none'),
  arm64.raw(0xf9400681), // ldr x1, [x20, #8]: argv
  arm64.raw(0xf9400a82), // ldr x2, [x20, #16]: the environment
  arm64.call(221), // execve
  arm64.raw(0xb100081f), // cmn x0, #ENOENT
  arm64.raw(0x9a961016), // csel x22, x0, x22, ne: a better reason than that it is not there
  arm64.raw(0x910022b5), // add x21, x21, #8
  arm64.jump('next'),
  { label: 'nowhere' },
  arm64.set(3, 0), // the step
  arm64.jump('tell'),
  { label: 'closed' },
  arm64.set(3, 2), // the step
  arm64.jump('tell'),
  { label: 'none' },
  arm64.raw(0xaa1603e0), // mov x0, x22
  arm64.set(3, 1), // the step
  { label: 'tell' },
  arm64.raw(0xcb0003e0), // neg x0, x0
  arm64.raw(0x39000280), // strb w0, [x20]: the errno
  arm64.raw(0x39000683), // strb w3, [x20, #1]
  arm64.set(0, STATUS_FD),
  arm64.raw(0xaa1403e1), // mov x1, x20
  arm64.set(2, 2),
  arm64.call(64), // write
  arm64.set(0, 127),
  arm64.call(93), // exit
  { label: 'quit' },
  arm64.set(0, 0),
  arm64.call(93), // exit
];
