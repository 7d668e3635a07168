import { type Code, word } from './elf.ts';

/** The instructions of arm64 that the programs of boxes need (Arm Architecture Reference Manual, A64). */
export const arm64 = {
  /** mov register, #value (16 bits) */
  set: (register: number, value: number): number[] => word((0xd2800000 | (value << 5) | register) >>> 0),
  /** mov register, #value << 16 */
  setHigh: (register: number, value: number): number[] => word((0xd2a00000 | (value << 5) | register) >>> 0),
  /** movk register, #value << 16: the lower half stays */
  addHigh: (register: number, value: number): number[] => word((0xf2a00000 | (value << 5) | register) >>> 0),
  /** svc #0: the call in x8 */
  call: (number: number): number[] => [...arm64.set(8, number), ...word(0xd4000001)],
  jump: (to: string): Code => ({ jump: { arm64: 0x14000000, shift: 0, bits: 26 }, to }),
  /** b.<condition>: eq 0, ne 1, lt 11, le 13 */
  jumpIf: (condition: number, to: string): Code => ({
    jump: { arm64: 0x54000000 | condition, shift: 5, bits: 19 },
    to,
  }),
  /** cbz register */
  jumpIfZero: (register: number, to: string): Code => ({
    jump: { arm64: (0xb4000000 | register) >>> 0, shift: 5, bits: 19 },
    to,
  }),
  raw: (...words: number[]): number[] => words.flatMap(word),
};
