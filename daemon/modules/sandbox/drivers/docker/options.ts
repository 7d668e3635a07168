import type { Log } from '../../../../log/log.ts';

/** What the docker driver is told. */
export interface DockerDriverOptions {
  /** The engine's Unix socket; found by `DOCKER_HOST` and the usual places when absent. */
  readonly socketPath?: string;
  /** Sets this daemon's boxes apart from those of another daemon on the same engine: `[a-z0-9-]`, 1 to 32. */
  readonly instance: string;
  /** A folder of this driver alone, on the same file system as the logs that `spawn` is given. */
  readonly dataDir: string;
  /** Takes what the caller should know but does not wait for. */
  readonly log: Pick<Log, 'warn'>;
  /** The image that `host` stands for, as a container engine cannot run the host itself. */
  readonly defaultImage?: string;
  /** Whether an image that is not there may be asked of its registry; true when absent. */
  readonly pull?: boolean;
  /**
   * Gives boxes the internet also where nothing keeps them from this host (an engine in a virtual machine,
   * no root, no nftables). False when absent: such a box is refused.
   */
  readonly allowUnguardedNetwork?: boolean;
}
