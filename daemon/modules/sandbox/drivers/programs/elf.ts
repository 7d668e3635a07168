/** A part of a program: bytes, or a jump to a label whose distance is filled in, or the place of a label. */
export type Code =
  | readonly number[]
  | { readonly jump: Jump; readonly to: string }
  | { readonly label: string };

/**
 * A jump by a distance: an opcode before one byte of distance; the second byte of an opcode before four; or a word
 * that has the distance in some of its bits.
 */
export type Jump =
  | { readonly x64: number }
  | { readonly x64Far: number }
  | { readonly arm64: number; readonly shift: number; readonly bits: number };

const LOAD_ADDRESS = 0x400000;
const ELF_HEADER = 64;
const PROGRAM_HEADER = 56;
const MACHINES = { x64: 62, arm64: 183 } as const;

/** An architecture that programs can be made for. */
export type Architecture = keyof typeof MACHINES;

/** What a program is made of. */
export interface Program {
  readonly architecture: Architecture;
  /** The instructions; they are given the address of `data`. */
  readonly code: (dataAddress: number) => readonly Code[];
  /** Read-only bytes behind the code. */
  readonly data: Uint8Array;
  /** A writable area of zeros, at a fixed address. */
  readonly area?: { readonly address: number; readonly size: number };
}

/**
 * Makes a static ELF program (elf(5)): a header, the instructions and the read-only data in one segment, and the
 * writable area in another. It needs no file, no library and no loader.
 */
export function elf({ architecture, code, data, area }: Program): Uint8Array {
  const codeAt = ELF_HEADER + PROGRAM_HEADER * (area ? 2 : 1);
  const dataAt = codeAt + assemble(code(0)).length;
  const file = new Uint8Array(dataAt + data.length);
  const view = new DataView(file.buffer);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]); // magic, 64 bit, little endian, version 1
  view.setUint16(16, 2, true); // e_type: ET_EXEC
  view.setUint16(18, MACHINES[architecture], true); // e_machine
  view.setUint32(20, 1, true); // e_version
  view.setBigUint64(24, BigInt(LOAD_ADDRESS + codeAt), true); // e_entry
  view.setBigUint64(32, BigInt(ELF_HEADER), true); // e_phoff
  view.setUint16(52, ELF_HEADER, true); // e_ehsize
  view.setUint16(54, PROGRAM_HEADER, true); // e_phentsize
  view.setUint16(56, area ? 2 : 1, true); // e_phnum
  segment(view, ELF_HEADER, {
    flags: READ | EXECUTE,
    address: LOAD_ADDRESS,
    stored: file.length,
    size: file.length,
  });
  if (area) segment(view, ELF_HEADER + PROGRAM_HEADER, { flags: READ | WRITE, stored: 0, ...area });
  file.set(assemble(code(LOAD_ADDRESS + dataAt)), codeAt);
  file.set(data, dataAt);
  return file;
}

const READ = 4;
const WRITE = 2;
const EXECUTE = 1;

interface Segment {
  readonly flags: number;
  readonly address: number;
  readonly stored: number;
  readonly size: number;
}

function segment(view: DataView, at: number, { flags, address, stored, size }: Segment): void {
  view.setUint32(at, 1, true); // p_type: PT_LOAD
  view.setUint32(at + 4, flags, true); // p_flags
  view.setBigUint64(at + 16, BigInt(address), true); // p_vaddr
  view.setBigUint64(at + 24, BigInt(address), true); // p_paddr
  view.setBigUint64(at + 32, BigInt(stored), true); // p_filesz
  view.setBigUint64(at + 40, BigInt(size), true); // p_memsz
  view.setBigUint64(at + 48, 4096n, true); // p_align
}

/** The bytes of a program, its jumps filled in. */
function assemble(parts: readonly Code[]): Uint8Array {
  const labels = new Map<string, number>();
  let at = 0;
  for (const part of parts) {
    if ('label' in part) labels.set(part.label, at);
    at += lengthOf(part);
  }
  const bytes: number[] = [];
  for (const part of parts) {
    if ('label' in part) continue;
    if (!('jump' in part)) bytes.push(...part);
    else bytes.push(...jumpBytes(part.jump, (labels.get(part.to) ?? Number.NaN) - bytes.length));
  }
  return new Uint8Array(bytes);
}

function lengthOf(part: Code): number {
  if ('label' in part) return 0;
  if (!('jump' in part)) return part.length;
  if ('x64Far' in part.jump) return 6;
  return 'x64' in part.jump ? 2 : 4;
}

/** On x64 the distance counts from the next instruction, in bytes; on arm64 from this one, in words. */
function jumpBytes(jump: Jump, distance: number): number[] {
  if ('x64Far' in jump) return [0x0f, jump.x64Far, ...word(distance - 6)];
  if ('x64' in jump) {
    const relative = distance - 2;
    if (!(relative >= -128 && relative <= 127)) throw new Error('a jump is too far');
    return [jump.x64, relative & 0xff];
  }
  const field = (distance / 4) & (2 ** jump.bits - 1);
  return word((jump.arm64 | (field << jump.shift)) >>> 0);
}

/** A number as four bytes, the lowest first. */
export function word(value: number): number[] {
  return [0, 8, 16, 24].map((shift) => (value >>> shift) & 0xff);
}
