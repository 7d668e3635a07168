import type { Container } from 'dockerode';
import { fail } from '../../../../../src/errors/app-error.ts';
import type { Box, BoxSpec, BoxState, ImageInfo, Limits, NetworkPolicy } from '../driver.ts';
import { checkMounts } from '../mount-target.ts';
import { isSamePolicy, isSealed, readPolicy } from '../network/policy.ts';
import { BoxFolder, type BoxRecord } from './box-folder.ts';
import { containerConfig, type EngineHost, engineLimits } from './container-config.ts';
import { missingGuard } from './egress-guard.ts';
import { type Engine, engineMessage, hasStatus, withEngine } from './engine.ts';
import type { Images } from './image.ts';
import { checkId, INSTANCE_LABEL, type Names, SANDBOX_LABEL } from './names.ts';
import { type InstanceNetwork, NO_NETWORK } from './network.ts';
import { untilReady } from './ready.ts';
import type { Stages } from './stages.ts';

const STOP_GRACE_SECONDS = 1;

interface EngineInfo {
  readonly NCPU: number;
  readonly SecurityOptions?: readonly string[];
}

/** A box that commands can be run in. */
export interface OpenBox {
  readonly id: string;
  readonly container: Container;
  readonly record: BoxRecord;
  readonly folder: BoxFolder;
}

/** What boxes are made with. */
export interface BoxParts {
  readonly engine: Engine;
  readonly names: Names;
  readonly dataDir: string;
  readonly images: Images;
  readonly network: InstanceNetwork;
  readonly stages: Stages;
  /** Told of each box that this process started. */
  readonly onStart: (id: string) => void;
}

/** Makes, starts, stops, finds and removes the containers of an instance. */
export class Boxes {
  private host: Promise<EngineHost> | undefined;
  private isSwept = false;

  constructor(private readonly parts: BoxParts) {}

  async create(spec: BoxSpec): Promise<Box> {
    const image = await this.parts.images.prepare(spec.image);
    return withEngine(spec.id, async () => {
      const record = recordOf(spec, image);
      const made = await this.makeContainer(spec, image.id, record.workDir);
      try {
        await this.folder(spec.id).write(record);
        await untilReady(made, spec.image);
        await this.admit(spec);
        this.parts.onStart(spec.id);
      } catch (error) {
        await this.remove(spec.id);
        throw error;
      }
      return { id: spec.id, containerId: made.id, image };
    });
  }

  /** Makes a box that does not run, of an image that holds its files. Errors: already_exists. */
  async makeStopped(spec: BoxSpec, imageId: string, record: BoxRecord): Promise<void> {
    await withEngine(spec.id, async () => {
      await this.makeContainer(spec, imageId, record.workDir);
      try {
        await this.folder(spec.id).write(record);
      } catch (error) {
        await this.remove(spec.id);
        throw error;
      }
    });
  }

  private async makeContainer(spec: BoxSpec, imageId: string, workDir: string): Promise<Container> {
    const [host, network] = await Promise.all([this.engineHost(), this.networkFor(spec)]);
    const { exchange, callProgram } = this.folder(spec.id);
    const { names, engine, stages } = this.parts;
    checkMounts(spec.mounts ?? []);
    try {
      const mounts = stages.open(spec.id, spec.mounts ?? []);
      const parts = {
        names,
        spec: { ...spec, mounts },
        imageId,
        workDir,
        network: network.name,
        isGuarded: network.guarded,
        exchange,
        callProgram,
        host,
      };
      return await engine.client.createContainer(containerConfig(parts));
    } catch (error) {
      if (hasStatus(error, 409)) throw fail('already_exists', { what: 'box', id: spec.id });
      await stages.close(spec.id);
      throw error;
    }
  }

  /** Starts a stopped box with the environment, limits and network of `spec`; one that runs stays as it is. */
  async start(id: string, spec: BoxSpec): Promise<Box> {
    return withEngine(id, async () => {
      const info = await this.container(id).inspect();
      const folder = this.folder(id);
      const image = (await folder.read())?.image ?? (await this.parts.images.prepare(spec.image));
      if (!info.State.Running) {
        this.parts.stages.open(id, spec.mounts ?? []);
        const network = await this.networkFor(spec);
        await this.parts.network.move(info.Id, Object.keys(info.NetworkSettings.Networks), network.name);
        await this.update(id, spec.limits);
        await folder.write(recordOf(spec, image));
        await untilReady(this.parts.engine.client.getContainer(info.Id), spec.image);
        await this.admit({ ...spec, id });
        this.parts.onStart(id);
      }
      return { id, containerId: info.Id, image };
    });
  }

  async stop(id: string): Promise<void> {
    await withEngine(id, async () => {
      try {
        await this.container(id).stop({ t: STOP_GRACE_SECONDS });
      } catch (error) {
        if (!hasStatus(error, 304)) throw error;
      }
      await this.parts.network.expel(id);
    });
  }

  async remove(id: string): Promise<void> {
    await withEngine(id, async () => {
      try {
        await this.container(id).remove({ force: true, v: true });
      } catch (error) {
        if (hasStatus(error, 409) && /already in progress/.test(engineMessage(error)))
          await this.untilGone(id);
        else if (!hasStatus(error, 404)) throw error;
      }
      await this.parts.network.expel(id);
      this.parts.network.forget(id);
      await this.parts.stages.close(id);
      await this.folder(id).remove();
    });
  }

  async inspect(id: string): Promise<BoxState> {
    return withEngine(id, async () => {
      try {
        const { Id: containerId, State: state } = await this.container(id).inspect();
        return { id, containerId, state: state.Running ? 'running' : 'stopped' };
      } catch (error) {
        if (hasStatus(error, 404)) return { id, containerId: '', state: 'missing' };
        throw error;
      }
    });
  }

  async list(): Promise<BoxState[]> {
    const filters = { label: [`${INSTANCE_LABEL}=${this.parts.names.instance}`] };
    const all = await withEngine('', () => this.parts.engine.client.listContainers({ all: true, filters }));
    const boxes = all.map(
      ({ Id: containerId, Labels: labels, State: state }): BoxState => ({
        id: labels[SANDBOX_LABEL] ?? '',
        containerId,
        state: state === 'running' || state === 'paused' ? 'running' : 'stopped',
      }),
    );
    await this.sweepStages(new Set(boxes.map(({ id }) => id)));
    return boxes;
  }

  /** Lets go of the folders that a daemon held when it died: once, before this one makes boxes. */
  private async sweepStages(known: ReadonlySet<string>): Promise<void> {
    if (this.isSwept) return;
    this.isSwept = true;
    for (const id of this.parts.stages.boxes()) if (!known.has(id)) await this.parts.stages.close(id);
  }

  async diskUsage(id: string): Promise<number> {
    // The declarations of the client lack the question and the answer.
    const options = { size: true } as object;
    const info: object = await withEngine(id, () => this.container(id).inspect(options));
    return 'SizeRw' in info ? Number(info.SizeRw) : 0;
  }

  async update(id: string, limits: Limits): Promise<void> {
    const { cores } = await this.engineHost();
    await withEngine(id, () => this.container(id).update(engineLimits(limits, cores)));
  }

  /** What is needed to run a command. Errors: not_found. */
  async open(id: string): Promise<OpenBox> {
    const folder = this.folder(id);
    const record = await folder.read();
    if (!record) throw fail('not_found', { what: 'box', id });
    return { id, container: this.container(id), record, folder };
  }

  /** The engine's handle of a box, whether it exists or not. */
  container(id: string): Container {
    return this.parts.engine.client.getContainer(this.parts.names.container(id));
  }

  private folder(id: string): BoxFolder {
    checkId('id', id);
    return new BoxFolder(this.parts.dataDir, id);
  }

  /** Changes what a box reaches. Errors: not_found, runtime_missing, not_configured. */
  async setNetwork(id: string, policy: NetworkPolicy): Promise<void> {
    const { network, names } = this.parts;
    await withEngine(id, async () => {
      const info = await this.container(id).inspect();
      const current = Object.keys(info.NetworkSettings.Networks);
      const isOn = current.includes(names.network);
      const mustChange = info.State.Running && (isOn || !isSealed(policy));
      const ready = mustChange ? await network.ready(policy) : undefined;
      const folder = this.folder(id);
      const record = await folder.read();
      if (record && !isSamePolicy(readPolicy(record.network), policy))
        await folder.write({ ...record, network: policy });
      if (!ready) return;
      const isCutOff = !ready.guarded && isSealed(policy);
      await network.move(info.Id, current, isCutOff ? NO_NETWORK : names.network);
      if (!isCutOff) await network.admit(id, policy, ready);
    });
  }

  private async networkFor({ network }: BoxSpec): Promise<{ name: string; guarded: boolean }> {
    if (!isSealed(network)) return this.parts.network.ready(network);
    return { name: NO_NETWORK, guarded: (await missingGuard()) === undefined };
  }

  private async admit({ id, network }: BoxSpec): Promise<void> {
    if (isSealed(network)) return;
    await this.parts.network.admit(id, network, await this.parts.network.ready(network));
  }

  private engineHost(): Promise<EngineHost> {
    this.host ??= this.askHost().catch((error) => {
      this.host = undefined;
      throw error;
    });
    return this.host;
  }

  private async askHost(): Promise<EngineHost> {
    const { NCPU: cores, SecurityOptions: options } = (await this.parts.engine.client.info()) as EngineInfo;
    return { cores, filtersCalls: (options ?? []).some((option) => option.includes('seccomp')) };
  }

  private async untilGone(id: string): Promise<void> {
    await this.container(id)
      .wait({ condition: 'removed' })
      .catch(() => {});
  }
}

function recordOf({ env, workDir, network }: BoxSpec, image: ImageInfo): BoxRecord {
  return { image, env, workDir: workDir ?? image.workDir, network };
}
