import { readdirSync, readFileSync } from 'node:fs';

/** What a process held at one moment. */
export interface Sample {
  readonly seconds: number;
  readonly residentMb: number;
  readonly fds: number;
}

/** Looks at a process now and then. */
export class ProcessWatch {
  readonly samples: Sample[] = [];
  private readonly begun = performance.now();
  private readonly timer: Timer;

  constructor(
    private readonly pid: number,
    everyMs: number,
  ) {
    this.timer = setInterval(() => this.look(), everyMs);
  }

  look(): Sample {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const residentMb = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
    const fds = readdirSync(`/proc/${this.pid}/fd`).length;
    const sample = { seconds: (performance.now() - this.begun) / 1000, residentMb, fds };
    this.samples.push(sample);
    return sample;
  }

  stop(): void {
    clearInterval(this.timer);
  }
}

/**
 * Megabytes a minute by which memory grows, by least squares over the least of each of `parts` equal parts of the run: between two
 * collections memory grows always, and only what is left after them tells of a leak.
 */
export function growth(samples: readonly Sample[], parts: number): number {
  const size = Math.floor(samples.length / parts);
  const least = Array.from({ length: parts }, (_, i) =>
    samples
      .slice(i * size, (i + 1) * size)
      .reduce((low, sample) => (sample.residentMb < low.residentMb ? sample : low)),
  );
  const mean = (read: (sample: Sample) => number) => least.reduce((sum, one) => sum + read(one), 0) / parts;
  const [x, y] = [mean(({ seconds }) => seconds), mean(({ residentMb }) => residentMb)];
  const over = least.reduce((sum, one) => sum + (one.seconds - x) * (one.residentMb - y), 0);
  return (over / least.reduce((sum, one) => sum + (one.seconds - x) ** 2, 0)) * 60;
}
