import { createDockerDriver } from '../drivers/docker/index.ts';
import { createNamespaceDriver } from '../drivers/namespace/index.ts';
import { whyUnusable } from '../drivers/namespace/probe.ts';
import { boxFilesRules } from './testing/box-files-rules.ts';

const socketPath = process.env.SVC_TEST_DOCKER_SOCKET;

boxFilesRules(
  'namespace',
  ({ dataDir, instance }) => createNamespaceDriver({ dataDir, instance, warm: 0, log: () => {} }),
  { image: 'host', skip: whyUnusable('probe') },
);

boxFilesRules(
  'docker',
  async ({ dataDir, instance }) => createDockerDriver({ socketPath, dataDir, instance, log: () => {} }),
  { image: process.env.SVC_TEST_DOCKER_IMAGE ?? '', skip: socketPath ? undefined : 'no engine was started' },
);
