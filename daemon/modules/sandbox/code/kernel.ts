import acorn from '../../../../node_modules/acorn/dist/acorn.js' with { type: 'text' };
import { fail } from '../../../../src/errors/app-error.ts';
import { newSecret } from '../../../../src/kit/id.ts';
import type { Execution, Exit, OutputChunk, SandboxDriver } from '../drivers/driver.ts';
import bash from './kernels/kernel.bash' with { type: 'text' };
import node from './kernels/kernel.node-kernel' with { type: 'text' };
import python from './kernels/kernel.py' with { type: 'text' };
import type { Language } from './languages.ts';
import { MarkReader, type Piece } from './marks.ts';
import { typeStripper } from './type-stripper.ts';

/** How long an interpreter may take until it says that it is ready. */
const READY_MS = 60_000;
/** Of what it said in place of that. */
const KEPT_WORDS = 2_000;
const NOT_FOUND = 127;
/** How long a kernel may take to read an order; one that does not is stopped by signals. */
const TOLD_MS = 500;

/** Moves the way of the orders and both outputs out of the way of the code, then becomes the interpreter. */
const LAUNCH =
  'command -v "$1" >/dev/null 2>&1 || { echo "missing $1" >&2; exit 127; }; exec 7<&0 8>&1 9>&2 </dev/null; exec "$@"';

/** Gives the kernel a file name of its own, by which its frames are told from those of the code. */
const PYTHON =
  'import sys; exec(compile(sys.argv[1], "<svc>", "exec"), {"__name__": "svc", "__file__": "<svc>"})';

const WORDS: Readonly<Record<Language, readonly [program: string, ...string[]]>> = {
  python: ['python3', '-c', PYTHON, python],
  javascript: ['node', '-e', node, 'javascript'],
  typescript: ['node', '-e', node, 'typescript'],
  bash: ['bash', '--norc', '--noprofile', '-c', bash, 'bash'],
};

/** Libraries that a kernel asks for when the image need not have them: 0.2 and 3.8 MB, sent to few. */
const LIBRARIES: Readonly<Record<string, () => Promise<string>>> = {
  acorn: async () => acorn as unknown as string,
  amaro: typeStripper,
};

/** Code to run. */
export interface Order {
  readonly token: string;
  /** The number of the run in its context, from 1. */
  readonly count: number;
  readonly code: string;
}

/** A piece of output, and where it came from. */
export type KernelPiece = Piece & { readonly channel: OutputChunk['channel'] };

/** An interpreter that waits inside a box for code. */
export class Kernel {
  readonly exited: Promise<Exit>;
  private readonly readers = { stdout: new MarkReader(), stderr: new MarkReader() };
  private readonly pieces: AsyncGenerator<KernelPiece>;
  private readonly provided = new Set<string>();

  private constructor(
    readonly language: Language,
    private readonly process: Execution,
  ) {
    this.exited = process.exited;
    this.pieces = this.read();
  }

  /**
   * Starts an interpreter and waits until it is ready.
   * Errors: failed_precondition (the image has no such program, or it does not start), and those of the driver.
   */
  static async start(driver: SandboxDriver, boxId: string, id: string, language: Language): Promise<Kernel> {
    const argv = ['/bin/sh', '-c', LAUNCH, 'sh', ...WORDS[language]] as const;
    const process = await driver.exec(boxId, { id, argv, stdin: true });
    const kernel = new Kernel(language, process);
    const late = setTimeout(() => void kernel.kill('SIGKILL'), READY_MS);
    try {
      await kernel.becomeReady();
      return kernel;
    } catch (error) {
      await kernel.kill('SIGKILL');
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  /** The next piece of its outputs; undefined when both have ended. */
  async next(): Promise<KernelPiece | undefined> {
    const { value, done } = await this.pieces.next();
    return done ? undefined : value;
  }

  async run(order: Order): Promise<void> {
    for (const reader of Object.values(this.readers)) reader.expect(order.token);
    if (this.language !== 'bash') return this.tell({ op: 'run', ...order });
    const code = Buffer.from(order.code);
    const head = Buffer.from(`${order.token} ${order.count} ${code.length}\n`);
    await this.process.write(Buffer.concat([head, code]));
  }

  /** Stops what runs and nothing else, where the kernel can; false when only a signal can. */
  async interrupt(count: number): Promise<boolean> {
    if (this.language === 'bash') return false;
    const told = this.tell({ op: 'interrupt', count }).then(() => true);
    return Promise.race([told, Bun.sleep(TOLD_MS).then(() => false)]);
  }

  /** Sends what the kernel lacks, each library once: the code could ask in its name. */
  async provide(name: string): Promise<void> {
    const load = Object.hasOwn(LIBRARIES, name) ? LIBRARIES[name] : undefined;
    if (!load || this.provided.has(name)) return;
    this.provided.add(name);
    await this.tell({ op: 'library', name, text: await load() }).catch(() => undefined);
  }

  async kill(signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
    await this.process.kill(signal).catch(() => undefined);
  }

  private async becomeReady(): Promise<void> {
    const token = newSecret();
    for (const reader of Object.values(this.readers)) reader.expect(token);
    const hello = this.language === 'bash' ? Buffer.from(`${token} 0 0\n`) : undefined;
    // A program that is missing reads nothing: its exit says more than the pipe does.
    const told = hello ? this.process.write(hello) : this.tell({ op: 'hello', token });
    told.catch(() => undefined);
    let words = '';
    for (let piece = await this.next(); piece; piece = await this.next()) {
      if ('message' in piece && piece.message.type === 'ready') return;
      if ('bytes' in piece && words.length < KEPT_WORDS) words += new TextDecoder().decode(piece.bytes);
    }
    throw startFailure(this.language, await this.exited, words);
  }

  private async tell(order: object): Promise<void> {
    await this.process.write(Buffer.from(`${JSON.stringify(order)}\n`));
  }

  private async *read(): AsyncGenerator<KernelPiece> {
    for await (const { channel, bytes } of this.process.output)
      for (const piece of this.readers[channel].read(bytes)) yield { ...piece, channel };
    for (const channel of ['stdout', 'stderr'] as const) {
      const bytes = this.readers[channel].end();
      if (bytes.length > 0) yield { bytes, channel };
    }
  }
}

function startFailure(language: Language, exit: Exit, words: string) {
  const [program] = WORDS[language];
  if (exit.code === NOT_FOUND && words.includes(`missing ${program}`))
    return fail('failed_precondition', {
      message: `The image of this sandbox has no ${program}, which ${language} contexts need.`,
    });
  const why = exit.startError ?? (words.trim() || `it ended with code ${exit.code}`);
  return fail('failed_precondition', { message: `${program} did not start in this sandbox: ${why}` });
}
