import type { Duplex } from 'node:stream';
import type { Container } from 'dockerode';
import { fail } from '../../../../../src/errors/app-error.ts';
import { FrameReader } from './demux.ts';
import { engineMessage } from './engine.ts';
import { Pump } from './pump.ts';

const READY_MS = 30_000;
const MAX_WORDS = 2_000;

/**
 * Starts a container and waits until its first process says that the box is prepared.
 * Errors: failed_precondition when the image cannot be a box, unavailable.
 */
export async function untilReady(container: Container, image: string): Promise<void> {
  const socket = await container.attach({ stream: true, hijack: true, stdout: true, stderr: true });
  const frames = new FrameReader();
  const output = new Pump(socket as Duplex, (part) => frames.read(part));
  const late = setTimeout(() => output.close(), READY_MS);
  try {
    await container.start().catch((error) => {
      throw startFault(error, image);
    });
    const words = { stdout: '', stderr: '' };
    for await (const { channel, bytes } of output) {
      if (words[channel].length < MAX_WORDS) words[channel] += new TextDecoder().decode(bytes);
      if (words.stdout.includes('ready\n')) return;
    }
    const why = words.stderr.trim() || 'its first process ended or did not answer';
    throw fail('failed_precondition', { message: `The image ${image} cannot be a sandbox: ${why}` });
  } finally {
    clearTimeout(late);
    output.close();
  }
}

function startFault(error: unknown, image: string): unknown {
  const message = engineMessage(error);
  if (
    !/OCI runtime create failed|failed to create (shim )?task/i.test(message) ||
    !message.includes('/bin/sh')
  )
    return error;
  return fail('failed_precondition', {
    message: `The image ${image} cannot be a sandbox: it has no /bin/sh.`,
  });
}
