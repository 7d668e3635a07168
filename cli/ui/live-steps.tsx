import { Box, render, Text } from 'ink';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { formatDuration } from '../../src/kit/duration.ts';
import type { Steps } from './steps.ts';

/** A line of the view: a step, or a note that stands between steps. */
interface Line {
  readonly id: number;
  readonly state: 'running' | 'done' | 'failed' | 'note';
  readonly label: string;
  readonly detail: string;
  readonly ms?: number;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 80;
const LABEL_WIDTH = 12;

/** Steps as a live view on stderr. */
export function liveSteps(): Steps {
  const lines = new Lines();
  const view = render(<View lines={lines} />, {
    stdout: process.stderr,
    patchConsole: false,
    exitOnCtrlC: false,
  });
  return {
    async run(label, work) {
      const start = performance.now();
      const id = lines.add({ state: 'running', label, detail: '' });
      try {
        const { value, detail } = await work((doing) => lines.change(id, { detail: doing }));
        lines.change(id, { state: 'done', detail, ms: performance.now() - start });
        return value;
      } catch (error) {
        lines.change(id, { state: 'failed' });
        throw error;
      }
    },
    note: (line) => void lines.add({ state: 'note', label: '', detail: line }),
    async close() {
      await view.waitUntilRenderFlush();
      view.unmount();
      await view.waitUntilExit();
    },
  };
}

/** The lines of a view; it tells its listeners when they change. */
class Lines {
  private lines: readonly Line[] = [];
  private readonly listeners = new Set<() => void>();

  add(line: Omit<Line, 'id'>): number {
    const id = this.lines.length;
    this.set([...this.lines, { ...line, id }]);
    return id;
  }

  change(id: number, change: Partial<Line>): void {
    this.set(this.lines.map((line) => (line.id === id ? { ...line, ...change } : line)));
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly current = (): readonly Line[] => this.lines;

  private set(lines: readonly Line[]): void {
    this.lines = lines;
    for (const listener of this.listeners) listener();
  }
}

function View({ lines }: { readonly lines: Lines }) {
  const current = useSyncExternalStore(lines.subscribe, lines.current);
  return (
    <Box flexDirection="column">
      {current.map((line) => (
        <StepLine key={line.id} line={line} />
      ))}
    </Box>
  );
}

function StepLine({ line }: { readonly line: Line }) {
  if (line.state === 'note') return <Text dimColor>{line.detail}</Text>;
  return (
    <Text>
      <Mark state={line.state} /> <Text bold>{line.label.padEnd(LABEL_WIDTH)}</Text> {line.detail}
      {line.ms === undefined ? '' : <Text dimColor> ({formatDuration(line.ms)})</Text>}
    </Text>
  );
}

function Mark({ state }: { readonly state: Line['state'] }) {
  const [frame, setFrame] = useState(0);
  useEffect(() => {
    if (state !== 'running') return;
    const timer = setInterval(() => setFrame((now) => now + 1), FRAME_MS);
    return () => clearInterval(timer);
  }, [state]);
  if (state === 'done') return <Text color="green">✓</Text>;
  if (state === 'failed') return <Text color="red">✗</Text>;
  return <Text color="cyan">{FRAMES[frame % FRAMES.length]}</Text>;
}
