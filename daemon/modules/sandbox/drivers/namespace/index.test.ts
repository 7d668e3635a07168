import { driverConformance } from '../conformance.ts';
import { createNamespaceDriver } from './index.ts';
import { whyUnusable } from './probe.ts';

driverConformance(
  'namespace',
  ({ dataDir, instance }) => createNamespaceDriver({ dataDir, instance, warm: 1, log: () => {} }),
  { image: 'host', skip: whyUnusable('probe') },
);
