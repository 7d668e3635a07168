import { arm64 } from './arm64.ts';
import { type Code, elf, word } from './elf.ts';

/** Where the call program is, inside every box. */
export const CALL_PATH = '/.svc/call';

/** The memory that a request is laid out in: every address in it is one of these. */
export const CALL_AREA = { address: 0x10000000, size: 0x300000 } as const;

/**
 * A request begins with seven 64-bit numbers (little endian) at the start of the area:
 * 0 where the rest goes, 1 its length, 2 the first record, 3 the end of the records,
 * 4 what is written back, 5 its length, 6 the address of a number that is added to the length, or 0.
 */
export const CALL_HEADER = 7 * 8;

/**
 * A record is one system call: 0 its number, in the upper half a bit for each argument that is the address of the
 * argument; 8 six arguments; 56 the least result with which the records go on, in whose place the result is put.
 */
export const CALL_RECORD = 8 * 8;

/**
 * A program that carries out system calls for the daemon, as its own user inside its box: it reads a request from
 * stdin, makes its calls in order until one fails, writes the asked part of its memory to stdout, and begins again
 * until stdin ends. Errors: an architecture it is not written for.
 */
export function callProgram(architecture: string = process.arch): Uint8Array {
  const data = new Uint8Array(0);
  const area = CALL_AREA;
  if (architecture === 'x64') return elf({ architecture, code: () => X64_CODE, data, area });
  if (architecture === 'arm64') return elf({ architecture, code: () => ARM64_CODE, data, area });
  throw new Error(`no call program for ${architecture}`);
}

const SYSCALL = [0x0f, 0x05];
const near = (opcode: number, to: string): Code => ({ jump: { x64: opcode }, to });
const far = (opcode: number, to: string): Code => ({ jump: { x64Far: opcode }, to });

/** Reads r13 bytes to r12. */
const x64Read = (name: string): Code[] => [
  { label: name },
  [0x4d, 0x85, 0xed], // test r13, r13
  near(0x74, `${name} done`), // jz
  [0x31, 0xc0], // xor eax, eax (read)
  [0x31, 0xff], // xor edi, edi (stdin)
  [0x4c, 0x89, 0xe6], // mov rsi, r12
  [0x4c, 0x89, 0xea], // mov rdx, r13
  SYSCALL,
  [0x48, 0x85, 0xc0], // test rax, rax
  far(0x8e, 'quit'), // jle quit
  [0x49, 0x01, 0xc4], // add r12, rax
  [0x49, 0x29, 0xc5], // sub r13, rax
  near(0xeb, name),
  { label: `${name} done` },
];

/** Loads the arguments of the record at r12: [load, load through, the bit]. */
const X64_ARGUMENTS: ReadonlyArray<readonly [load: number[], follow: number[]]> = [
  [
    [0x49, 0x8b, 0x7c, 0x24, 8], // mov rdi, [r12 + 8]
    [0x48, 0x8b, 0x3f], // mov rdi, [rdi]
  ],
  [
    [0x49, 0x8b, 0x74, 0x24, 16], // mov rsi, [r12 + 16]
    [0x48, 0x8b, 0x36], // mov rsi, [rsi]
  ],
  [
    [0x49, 0x8b, 0x54, 0x24, 24], // mov rdx, [r12 + 24]
    [0x48, 0x8b, 0x12], // mov rdx, [rdx]
  ],
  [
    [0x4d, 0x8b, 0x54, 0x24, 32], // mov r10, [r12 + 32]
    [0x4d, 0x8b, 0x12], // mov r10, [r10]
  ],
  [
    [0x4d, 0x8b, 0x44, 0x24, 40], // mov r8, [r12 + 40]
    [0x4d, 0x8b, 0x00], // mov r8, [r8]
  ],
  [
    [0x4d, 0x8b, 0x4c, 0x24, 48], // mov r9, [r12 + 48]
    [0x4d, 0x8b, 0x09], // mov r9, [r9]
  ],
];

const X64_CODE: Code[] = [
  { label: 'request' },
  [0x41, 0xbc, ...word(CALL_AREA.address)], // mov r12d, area
  [0x41, 0xbd, ...word(CALL_HEADER)], // mov r13d, header
  ...x64Read('head'),
  [0xbb, ...word(CALL_AREA.address)], // mov ebx, area
  [0x4c, 0x8b, 0x23], // mov r12, [rbx]
  [0x4c, 0x8b, 0x6b, 8], // mov r13, [rbx + 8]
  ...x64Read('rest'),
  [0x4c, 0x8b, 0x63, 16], // mov r12, [rbx + 16]: the record
  { label: 'next' },
  [0x4c, 0x3b, 0x63, 24], // cmp r12, [rbx + 24]
  far(0x83, 'answer'), // jae answer
  ...X64_ARGUMENTS.flatMap(([load, follow], i): Code[] => [
    load,
    [0x41, 0xf6, 0x44, 0x24, 4, 1 << i], // test byte [r12 + 4], bit
    near(0x74, `argument ${i}`), // jz
    follow,
    { label: `argument ${i}` },
  ]),
  [0x41, 0x8b, 0x04, 0x24], // mov eax, [r12]
  SYSCALL,
  [0x4d, 0x8b, 0x7c, 0x24, 56], // mov r15, [r12 + 56]: the least result
  [0x49, 0x89, 0x44, 0x24, 56], // mov [r12 + 56], rax
  [0x4c, 0x39, 0xf8], // cmp rax, r15
  near(0x7c, 'answer'), // jl answer
  [0x49, 0x83, 0xc4, CALL_RECORD], // add r12, record
  { jump: { x64Far: 0x83 }, to: 'next' }, // jae next: an addition of addresses never carries
  { label: 'answer' },
  [0x4c, 0x8b, 0x63, 32], // mov r12, [rbx + 32]
  [0x4c, 0x8b, 0x6b, 40], // mov r13, [rbx + 40]
  [0x48, 0x8b, 0x43, 48], // mov rax, [rbx + 48]
  [0x48, 0x85, 0xc0], // test rax, rax
  near(0x74, 'write'), // jz
  [0x48, 0x8b, 0x00], // mov rax, [rax]
  [0x48, 0x85, 0xc0], // test rax, rax
  near(0x7e, 'write'), // jle
  [0x49, 0x01, 0xc5], // add r13, rax
  { label: 'write' },
  [0x4d, 0x85, 0xed], // test r13, r13
  far(0x84, 'request'), // jz request
  [0xb8, ...word(1)], // mov eax, 1 (write)
  [0xbf, ...word(1)], // mov edi, stdout
  [0x4c, 0x89, 0xe6], // mov rsi, r12
  [0x4c, 0x89, 0xea], // mov rdx, r13
  SYSCALL,
  [0x48, 0x85, 0xc0], // test rax, rax
  near(0x7e, 'quit'), // jle quit
  [0x49, 0x01, 0xc4], // add r12, rax
  [0x49, 0x29, 0xc5], // sub r13, rax
  near(0xeb, 'write'),
  { label: 'quit' },
  [0x31, 0xff], // xor edi, edi
  [0xb8, ...word(60)], // mov eax, 60 (exit)
  SYSCALL,
];

const [CARRY_OR_SAME, LESS, LESS_OR_EQUAL] = [2, 11, 13];

/** ldr register, [base, #offset]; the offset is a multiple of 8. */
const load = (register: number, base: number, offset: number): number[] =>
  arm64.raw((0xf9400000 | ((offset / 8) << 10) | (base << 5) | register) >>> 0);
/** mov register, other */
const copy = (register: number, other: number): number[] =>
  arm64.raw((0xaa0003e0 | (other << 16) | register) >>> 0);
/** add register, register, other */
const add = (register: number, other: number): number[] =>
  arm64.raw((0x8b000000 | (other << 16) | (register << 5) | register) >>> 0);
/** sub register, register, other */
const subtract = (register: number, other: number): number[] =>
  arm64.raw((0xcb000000 | (other << 16) | (register << 5) | register) >>> 0);
/** cmp register, other */
const compare = (register: number, other: number): number[] =>
  arm64.raw((0xeb00001f | (other << 16) | (register << 5)) >>> 0);
/** cmp register, #0 */
const compareZero = (register: number): number[] => arm64.raw((0xf100001f | (register << 5)) >>> 0);

/** Reads x22 bytes to x21. */
const arm64Read = (name: string): Code[] => [
  { label: name },
  arm64.jumpIfZero(22, `${name} done`),
  arm64.set(0, 0), // stdin
  copy(1, 21),
  copy(2, 22),
  arm64.call(63), // read
  compareZero(0),
  arm64.jumpIf(LESS_OR_EQUAL, 'quit'),
  add(21, 0),
  subtract(22, 0),
  arm64.jump(name),
  { label: `${name} done` },
];

const ARM64_CODE: Code[] = [
  arm64.setHigh(20, CALL_AREA.address >>> 16), // x20: the area
  { label: 'request' },
  copy(21, 20),
  arm64.set(22, CALL_HEADER),
  ...arm64Read('head'),
  load(21, 20, 0),
  load(22, 20, 8),
  ...arm64Read('rest'),
  load(21, 20, 16), // x21: the record
  { label: 'next' },
  load(22, 20, 24),
  compare(21, 22),
  arm64.jumpIf(CARRY_OR_SAME, 'answer'),
  arm64.raw(0xb94006b7), // ldr w23, [x21, #4]: the bits
  ...[0, 1, 2, 3, 4, 5].flatMap((i): Code[] => [
    load(i, 21, 8 + 8 * i),
    // tbz w23, #i, over the next word
    arm64.raw((0x36000000 | (i << 19) | (2 << 5) | 23) >>> 0),
    load(i, i, 0),
  ]),
  arm64.raw(0xb94002a8), // ldr w8, [x21]: the number
  arm64.raw(0xd4000001), // svc #0
  load(24, 21, 56), // the least result
  arm64.raw(0xf9001ea0), // str x0, [x21, #56]
  compare(0, 24),
  arm64.jumpIf(LESS, 'answer'),
  arm64.raw(0x910102b5), // add x21, x21, #64
  arm64.jump('next'),
  { label: 'answer' },
  load(21, 20, 32),
  load(22, 20, 40),
  load(0, 20, 48),
  arm64.jumpIfZero(0, 'write'),
  load(0, 0, 0),
  compareZero(0),
  arm64.jumpIf(LESS_OR_EQUAL, 'write'),
  add(22, 0),
  { label: 'write' },
  arm64.jumpIfZero(22, 'request'),
  arm64.set(0, 1), // stdout
  copy(1, 21),
  copy(2, 22),
  arm64.call(64), // write
  compareZero(0),
  arm64.jumpIf(LESS_OR_EQUAL, 'quit'),
  add(21, 0),
  subtract(22, 0),
  arm64.jump('write'),
  { label: 'quit' },
  arm64.set(0, 0),
  arm64.call(93), // exit
];
