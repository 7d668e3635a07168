/** Takes what the caller should know but does not wait for. */
export type DriverLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** What the docker driver is told. */
export interface DockerDriverOptions {
  /** The engine's Unix socket; found by `DOCKER_HOST` and the usual places when absent. */
  readonly socketPath?: string;
  /** Sets this daemon's boxes apart from those of another daemon on the same engine: `[a-z0-9-]`, 1 to 32. */
  readonly instance: string;
  /**
   * The daemon's folder; the driver keeps its things in `docker/` below it. Logs that `spawn` is given must
   * be on the same file system.
   */
  readonly dataDir: string;
  readonly log: DriverLog;
  /** The image that `host` stands for, as a container engine cannot run the host itself. */
  readonly defaultImage?: string;
  /** Who is asked for names that boxes look up, as `address` or `address:port`; the host's name servers when absent. */
  readonly nameServers?: readonly string[];
  /** Whether an image that is not there may be asked of its registry; true when absent. */
  readonly pull?: boolean;
  /**
   * Gives boxes the internet also where nothing keeps them from this host (an engine in a virtual machine,
   * no root, no nftables). False when absent: such a box is refused.
   */
  readonly allowUnguardedNetwork?: boolean;
}
