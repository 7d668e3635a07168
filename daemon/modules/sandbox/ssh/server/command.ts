import { type CommandService, type Running, reasonOf } from '../../command/service.ts';
import type { Execution, Terminal } from '../../drivers/driver.ts';
import type { PeerChannel } from './channel.ts';

const END_OF_TRANSMISSION = new Uint8Array([4]);

/** Carries a command on plain pipes over a channel, to its end. A peer that leaves hangs up on it. */
export async function runOnPipes(
  commands: CommandService,
  running: Running<Execution>,
  channel: PeerChannel,
): Promise<void> {
  channel.read(
    (bytes) => running.process.write(bytes),
    () => void running.process.endInput().catch(() => undefined),
  );
  await carry(commands, running, running.process.output, channel);
}

/** Carries a command on a terminal over a channel, to its end. The end of the peer's input is Ctrl-D. */
export async function runOnTerminal(
  commands: CommandService,
  running: Running<Terminal>,
  channel: PeerChannel,
): Promise<void> {
  channel.read(
    (bytes) => running.process.write(bytes),
    () => void running.process.write(END_OF_TRANSMISSION).catch(() => undefined),
  );
  const output = (async function* () {
    for await (const bytes of running.process.output) yield { channel: 'stdout' as const, bytes };
  })();
  await carry(commands, running, output, channel);
}

async function carry(
  commands: CommandService,
  running: Running<Execution | Terminal>,
  output: Execution['output'],
  channel: PeerChannel,
): Promise<void> {
  const hangUp = () => void commands.end(running.row.id, 'SIGHUP').catch(() => undefined);
  if (channel.gone.aborted) hangUp();
  channel.gone.addEventListener('abort', hangUp, { once: true });
  try {
    for await (const { channel: stream, bytes } of output) {
      running.head.add(stream, bytes);
      await running.log.write(bytes);
      await channel.write(stream, bytes);
    }
    const ended = await running.ended;
    const reason = ended.startError || ended.outOfMemory ? reasonOf(ended) : undefined;
    if (reason) await channel.write('stderr', new TextEncoder().encode(`svc: ${reason}\r\n`));
    await channel.exit(ended);
  } finally {
    channel.gone.removeEventListener('abort', hangUp);
    await running.log.close();
  }
}
