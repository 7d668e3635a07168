import { arm64 } from '../../programs/arm64.ts';
import { type Code, elf, word } from '../../programs/elf.ts';

const SIGCHLD = 17;
const SIG_IGN = 1n;
const SIGSET_SIZE = 8;

/** Where the init of a box is, inside. */
export const INIT_PATH = '/.svc/init';

/**
 * PID 1 of every box: a static ELF program of about 200 bytes that ignores SIGCHLD, so that the kernel itself
 * reaps every orphan, and then waits for ever. As PID 1 it is deaf to all signals from inside; a SIGKILL from
 * outside ends it and with it the whole box (pid_namespaces(7)). Errors: an architecture it is not written for.
 */
export function initProgram(architecture: string = process.arch): Uint8Array {
  const data = ignoreAction();
  if (architecture === 'x64') return elf({ architecture, code: x64Code, data });
  if (architecture === 'arm64') return elf({ architecture, code: arm64Code, data });
  throw new Error(`no init program for ${architecture}`);
}

/** The kernel's struct sigaction: handler SIG_IGN, no flags, no restorer, empty mask. */
function ignoreAction(): Uint8Array {
  const bytes = new Uint8Array(32);
  new DataView(bytes.buffer).setBigUint64(0, SIG_IGN, true);
  return bytes;
}

const x64Code = (action: number): Code[] => [
  [0xb8, ...word(13)], // mov eax, 13 (rt_sigaction)
  [0xbf, ...word(SIGCHLD)], // mov edi, SIGCHLD
  [0xbe, ...word(action)], // mov esi, action
  [0x31, 0xd2], // xor edx, edx: the old action is not wanted
  [0x41, 0xba, ...word(SIGSET_SIZE)], // mov r10d, 8
  [0x0f, 0x05], // syscall
  { label: 'wait' },
  [0xb8, ...word(34)], // mov eax, 34 (pause)
  [0x0f, 0x05], // syscall
  { jump: { x64: 0xeb }, to: 'wait' }, // jmp wait
];

const arm64Code = (action: number): Code[] => [
  arm64.set(0, SIGCHLD),
  arm64.set(1, action & 0xffff),
  arm64.addHigh(1, action >>> 16),
  arm64.set(2, 0), // the old action is not wanted
  arm64.set(3, SIGSET_SIZE),
  arm64.call(134), // rt_sigaction
  { label: 'wait' },
  ...[0, 1, 2, 3, 4].map((register) => arm64.set(register, 0)), // no descriptors, no time, no mask
  arm64.call(73), // ppoll: this architecture has no pause
  arm64.jump('wait'),
];
