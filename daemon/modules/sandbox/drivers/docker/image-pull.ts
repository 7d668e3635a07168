import type { Readable } from 'node:stream';
import { fail } from '../../../../../src/errors/app-error.ts';
import type { ImageProgress } from '../driver.ts';
import type { Engine } from './engine.ts';
import { jsonLines } from './lines.ts';

interface PullLine {
  readonly status?: string;
  readonly id?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
  readonly error?: string;
}

/** Asks the engine to get an image from its registry. Errors: image_not_found, disk_full, cancelled. */
export async function pullImage(
  engine: Engine,
  name: string,
  report: (step: ImageProgress) => void,
  signal?: AbortSignal,
): Promise<void> {
  report({ step: 'resolve', done: 0, total: 0 });
  try {
    const answer = await engine.client.pull(withTag(name), { abortSignal: signal });
    const meter = new PullMeter();
    for await (const line of jsonLines(answer as Readable)) {
      const step = meter.take(name, line as PullLine);
      if (step) report(step);
    }
  } catch (error) {
    if (signal?.aborted) throw fail('cancelled');
    throw error;
  }
}

/** The reference with `:latest` when it names neither tag nor digest: without one the engine gets every tag. */
export function withTag(reference: string): string {
  const last = reference.slice(reference.lastIndexOf('/') + 1);
  return last.includes(':') || last.includes('@') ? reference : `${reference}:latest`;
}

/** Adds the progress of the layers up. */
export class PullMeter {
  private readonly layers = new Map<string, { done: number; total: number }>();

  /** The step that a line of the engine means; undefined when it says nothing about progress. */
  take(image: string, { status = '', id = '', progressDetail, error }: PullLine): ImageProgress | undefined {
    if (error && /no space left/i.test(error))
      throw fail('disk_full', { message: 'The disk of the Docker engine is full.' });
    if (error) throw fail('image_not_found', { image, why: error.replace(/[.\s]+$/, '') });
    const step = status === 'Downloading' ? 'download' : status === 'Extracting' ? 'unpack' : undefined;
    if (!step || !progressDetail?.total) return undefined;
    this.layers.set(`${step} ${id}`, { done: progressDetail.current ?? 0, total: progressDetail.total });
    const layers = [...this.layers].filter(([key]) => key.startsWith(step)).map(([, value]) => value);
    const sum = (of: 'done' | 'total') => layers.reduce((all, layer) => all + layer[of], 0);
    return { step, done: sum('done'), total: sum('total') };
  }
}
