import { afterAll } from 'bun:test';
import { dockerdMissing, startDockerd } from '../../../../../test/support/dockerd.ts';
import { driverConformance } from '../conformance.ts';
import { createDockerDriver } from './index.ts';

const skip = dockerdMissing();
const engine = skip ? undefined : await startDockerd();
afterAll(() => engine?.stop());

driverConformance(
  'docker',
  async ({ dataDir, instance }) =>
    createDockerDriver({ socketPath: engine?.socket, dataDir, instance, log: () => {} }),
  { image: engine?.image ?? '', skip },
);
