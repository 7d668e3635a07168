/** A driver that can be tested here, with what a daemon needs to use it. */
export interface DriverCase {
  readonly name: 'namespace' | 'docker';
  readonly env: Readonly<Record<string, string>>;
}

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const socket = process.env.SVC_TEST_DOCKER_SOCKET;

/** The drivers of this host: namespace as root on Linux, docker where the run has started an engine. */
export const driverCases: readonly DriverCase[] = [
  ...(isRoot && Bun.which('crun')
    ? [{ name: 'namespace' as const, env: { SVC_SANDBOX_DRIVER: 'namespace' } }]
    : []),
  ...(socket
    ? [
        {
          name: 'docker' as const,
          env: {
            SVC_SANDBOX_DRIVER: 'docker',
            SVC_DOCKER_SOCKET: socket,
            SVC_SANDBOX_DOCKER_IMAGE: process.env.SVC_TEST_DOCKER_IMAGE ?? '',
          },
        },
      ]
    : []),
];
