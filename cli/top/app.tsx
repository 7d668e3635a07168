import { Box, render, Text, useApp, useInput } from 'ink';
import { useCallback, useEffect, useRef, useState } from 'react';
import { sandboxLifecycle } from '../../src/api/sandbox/lifecycle.ts';
import type { Client } from '../../src/client/client.ts';
import { type Measured, measureAll } from '../commands/sandbox/measure-all.ts';
import { bytes, percent } from '../commands/sandbox/stats-view.ts';
import { bar } from '../ui/graph.ts';
import { printable } from '../ui/table.ts';
import { firstShown, type Sort, sorted } from './rows.ts';

const EVERY_MS = 2_000;
const BAR = 12;
/** Lines around the list: title, heading, keys. */
const FRAME = 4;
const SORT_KEYS: Readonly<Record<string, Sort>> = { c: 'cpu', m: 'memory', n: 'name' };

/** Shows the view until the user leaves it. Answers the sandbox whose shell is wanted, or undefined. */
export async function showTop(client: Client): Promise<string | undefined> {
  let wanted: string | undefined;
  const leave = (sandbox: string | undefined) => {
    wanted = sandbox;
  };
  const view = render(<Top client={client} onLeave={leave} />, { alternateScreen: true });
  await view.waitUntilExit();
  return wanted;
}

function Top({ client, onLeave }: { readonly client: Client; readonly onLeave: (id?: string) => void }) {
  const { exit } = useApp();
  const { rows, failure, refresh } = useMeasured(client);
  const [sort, setSort] = useState<Sort>('cpu');
  const [chosenId, choose] = useState<string>();
  const [asked, ask] = useState<Measured>();
  const [said, say] = useState('');
  const first = useRef(0);
  const list = sorted(rows ?? [], sort);
  const chosen = Math.max(
    list.findIndex(({ id }) => id === chosenId),
    0,
  );
  const height = Math.max((process.stdout.rows ?? 24) - FRAME, 3);
  first.current = firstShown(chosen, list.length, height, first.current);
  const current = list[chosen];
  const leave = (id?: string) => {
    onLeave(id);
    exit();
  };
  const stop = async ({ id, name }: Measured) => {
    say(`Stopping ${name || id}`);
    try {
      await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: id } });
      say(`${name || id} sleeps; its files are kept.`);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
    await refresh();
  };
  useInput((input, key) => {
    if (asked) {
      if (input === 'y') void stop(asked);
      ask(undefined);
    } else if (input === 'q' || key.escape) leave();
    else if (key.downArrow || input === 'j') choose(list[Math.min(chosen + 1, list.length - 1)]?.id);
    else if (key.upArrow || input === 'k') choose(list[Math.max(chosen - 1, 0)]?.id);
    else if (SORT_KEYS[input]) setSort(SORT_KEYS[input]);
    else if (key.return && current) leave(current.id);
    else if (input === 's' && current) ask(current);
  });
  return (
    <Box flexDirection="column" height={(process.stdout.rows ?? 24) - 1}>
      <Title rows={list} failure={failure} loading={rows === undefined} />
      <Text bold>{heading(sort)}</Text>
      {list.slice(first.current, first.current + height).map((row) => (
        <Row key={row.id} row={row} isChosen={row.id === current?.id} />
      ))}
      <Text dimColor>
        {asked
          ? `Stop ${printable(asked.name || asked.id)}? y, or any other key`
          : printable(said) || 'enter shell  s stop  c m n sort  q leave'}
      </Text>
    </Box>
  );
}

function Title({
  rows,
  failure,
  loading,
}: {
  readonly rows: readonly Measured[];
  readonly failure?: string;
  readonly loading: boolean;
}) {
  if (failure) return <Text color="red">{printable(failure)}</Text>;
  if (loading) return <Text dimColor>Measuring</Text>;
  const cpu = rows.reduce((sum, { stats }) => sum + (stats.cpuPercent ?? 0), 0);
  const memory = rows.reduce((sum, { stats }) => sum + Number(stats.memoryUsage ?? 0), 0);
  return <Text>{`${rows.length} running   cpu ${percent(cpu)}   memory ${bytes(String(memory))}`}</Text>;
}

function Row({ row, isChosen }: { readonly row: Measured; readonly isChosen: boolean }) {
  const { stats } = row;
  const cpu = stats.cpuPercent ?? 0;
  const memory = stats.memoryPercent ?? 0;
  return (
    <Text wrap="truncate" inverse={isChosen}>
      {printable(row.name || row.id)
        .slice(0, NAME)
        .padEnd(NAME)}{' '}
      <Text color={colorOf(cpu)}>{bar(cpu / 100, BAR)}</Text> {percent(cpu).padStart(8)}{' '}
      <Text color={colorOf(memory)}>{bar(memory / 100, BAR)}</Text> {bytes(stats.memoryUsage).padStart(9)}{' '}
      {String(stats.pids ?? 0).padStart(6)} {bytes(stats.networkRxBytes).padStart(10)}{' '}
      {bytes(stats.networkTxBytes).padStart(10)}
    </Text>
  );
}

const NAME = 28;

function heading(sort: Sort): string {
  const mark = (title: string, by: Sort) => (sort === by ? `${title}▼` : title);
  const cells = [
    mark('NAME', 'name').padEnd(NAME),
    mark('CPU', 'cpu').padEnd(BAR + 9),
    mark('MEMORY', 'memory').padEnd(BAR + 10),
    'PROCS'.padStart(6),
    'NET IN'.padStart(10),
    'NET OUT'.padStart(10),
  ];
  return cells.join(' ');
}

function colorOf(share: number): string {
  return share > 90 ? 'red' : share > 60 ? 'yellow' : 'green';
}

/** The running sandboxes, measured every 2 seconds. */
function useMeasured(client: Client) {
  const [state, setState] = useState<{ rows?: readonly Measured[]; failure?: string }>({});
  const refresh = useCallback(async () => {
    try {
      setState({ rows: await measureAll(client) });
    } catch (error) {
      setState(({ rows }) => ({ rows, failure: error instanceof Error ? error.message : String(error) }));
    }
  }, [client]);
  useEffect(() => {
    let timer: Timer | undefined;
    let isGone = false;
    const loop = async () => {
      await refresh();
      if (!isGone) timer = setTimeout(() => void loop(), EVERY_MS);
    };
    void loop();
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [refresh]);
  return { ...state, refresh };
}
