import { change, withoutNode } from '../../src/controllers/attachdetach/actual-state.ts';
import {
  attachmentsFromAnnotation,
  recordOf,
} from '../../src/controllers/attachdetach/attached-nodes-annotation.ts';
import { wantedOf } from '../../src/controllers/attachdetach/desired-state.ts';
import { nextOperation } from '../../src/controllers/attachdetach/next-operation.ts';
import type {
  AttachmentOperation,
  Managed,
  NodeAttachment,
  NodeFacts,
  PodUse,
  ReconcileDecision,
  ReconcileInput,
} from '../../src/controllers/attachdetach/types.ts';

/**
 * Model of a volume, its nodes and the executor of its operations, with all failures between them.
 * Tests control the clock. A violated invariant throws an Error.
 */

/** Delay (ms) after a failure. */
const BACKOFF = 300;

interface ModelNode {
  name: string;
  /** Machine runs and can write, even if it is unreachable. */
  on: boolean;
  /** Node answers the executor. */
  answers: boolean;
  exists: boolean;
  ready: boolean;
  notReadySince: number;
  tainted: boolean;
  boot: number;
  device: 'none' | 'rw' | 'ro';
  /** Job whose end no process waited for. */
  pending: AttachmentOperation | undefined;
}

interface ModelPod extends PodUse {
  /** Object and containers exist; containers have ended; object is deleted. */
  life: 'lives' | 'ended' | 'gone';
  /** Set once the kubelet has mounted. */
  mounts: boolean;
  /** Claim exists. Without the claim, no object shows that the pod needs the volume. */
  claim: boolean;
}

export type Outcome = 'done' | 'failed' | 'lost' | 'lost-and-late';

export class AttachmentWorld {
  now = 1_000_000;
  readonly nodes = new Map<string, ModelNode>();
  readonly pods: ModelPod[] = [];
  paused = false;
  deleting = false;
  /** Set after a restart from an outdated annotation. */
  stale = false;
  started = 0;
  readonly #volume: Managed;
  #entries: readonly NodeAttachment[] = [];
  /** All values of the annotation; the last one is current. */
  readonly #records: string[] = ['[]'];
  #unseen = new Set<string>();
  #running: AttachmentOperation | undefined;
  /** Set if the node had an entry before the running operation. */
  #wasThere = false;
  #notBefore = new Map<string, number>();
  /** Boot of each node as last observed by this process. */
  readonly #boots = new Map<string, number>();
  /** Force-detached nodes that have not been Ready since. */
  readonly #letGo = new Set<string>();

  constructor(volume: Managed) {
    this.#volume = volume;
    for (const name of ['n1', 'n2', 'n3']) {
      this.nodes.set(name, {
        name,
        on: true,
        answers: true,
        exists: true,
        ready: true,
        notReadySince: 0,
        tainted: false,
        boot: 1,
        device: 'none',
        pending: undefined,
      });
    }
    this.#begin();
  }

  get running(): AttachmentOperation | undefined {
    return this.#running;
  }

  get entries(): readonly NodeAttachment[] {
    return this.#entries;
  }

  node(name: string): ModelNode {
    const node = this.nodes.get(name);
    if (node === undefined) throw new Error(`no node ${name}`);
    return node;
  }

  schedule(node: string): void {
    const uid = `${this.pods.length}`;
    this.pods.push({ uid, pod: `app/p${uid}`, node, life: 'lives', mounts: false, claim: true });
  }

  /** Mounts the volume for each active pod where the kubelet can. */
  mount(): void {
    for (const pod of this.pods) {
      const { on, device } = this.node(pod.node);
      if (on && pod.life === 'lives' && device !== 'none') pod.mounts = true;
    }
  }

  unmount(): void {
    for (const pod of this.pods) if (pod.life !== 'lives') pod.mounts = false;
  }

  /** Cuts off a node from Kubernetes and the executor. Pods keep running on a running machine. */
  silence(name: string): void {
    this.stopKubelet(name);
    this.node(name).answers = false;
  }

  /** Cuts off a node from Kubernetes only. */
  stopKubelet(name: string): void {
    const node = this.node(name);
    if (node.ready) node.notReadySince = this.now;
    node.ready = false;
  }

  powerOff(name: string): void {
    const node = this.node(name);
    this.silence(name);
    Object.assign(node, { on: false, device: 'none', pending: undefined });
    for (const pod of this.pods) if (pod.node === name) pod.mounts = false;
  }

  /** Adds the out-of-service taint if the machine is really off. */
  taint(name: string): void {
    if (!this.node(name).on) this.node(name).tainted = true;
  }

  comeBack(name: string): void {
    const node = this.node(name);
    if (!node.on) node.boot += 1;
    Object.assign(node, { on: true, answers: true, exists: true, ready: true, tainted: false });
  }

  /**
   * Restarts the process with the current annotation, an outdated one, or one with an additional
   * node.
   */
  restart(record: 'current' | 'older' | 'newer', node: string): void {
    let text = this.#records.at(-1) ?? '[]';
    if (record === 'older') {
      text = this.#records.at(-3) ?? '[]';
      this.stale = true;
    }
    if (record === 'newer') text = JSON.stringify([...(JSON.parse(text) as string[]), node]);
    if (this.#running !== undefined) this.node(this.#running.node).pending ??= this.#submitted();
    this.#running = undefined;
    this.#entries = attachmentsFromAnnotation(text, undefined, this.now);
    this.#begin();
  }

  #begin(): void {
    this.#unseen = new Set([...this.#volume.nodes, ...recordOf(this.#entries)]);
    this.#notBefore = new Map();
    this.#letGo.clear();
    for (const { name, boot } of this.nodes.values()) this.#boots.set(name, boot);
  }

  /** Reconciles once and starts the resulting operation. */
  step(): ReconcileDecision {
    this.#notice();
    const view = this.#view();
    const next = nextOperation(view, this.now);
    this.#check(view, next);
    this.#set(next.entries);
    for (const { node, reason } of next.forced) {
      if (this.#letGo.has(node) && reason === 'timeout') throw new Error(`${node} let go of again`);
      this.#letGo.add(node);
      this.#unseen.add(node);
      if (this.#running?.node === node) this.#running = undefined;
    }
    if (next.start !== undefined) this.#start(next.start);
    return next;
  }

  /** Marks nodes as unverified that rebooted, or are Ready after a force-detach. */
  #notice(): void {
    for (const { name, exists, ready, boot } of this.nodes.values()) {
      if (!exists || !ready) continue;
      if (this.#letGo.delete(name) || this.#boots.get(name) !== boot) this.#unseen.add(name);
      this.#boots.set(name, boot);
    }
  }

  #view(): ReconcileInput {
    const volume = { ...this.#volume, attachable: !this.deleting };
    const uses = this.pods.filter(({ life, claim }) => life === 'lives' && claim);
    return {
      volume,
      problem: undefined,
      wanted: wantedOf(volume, uses),
      entries: this.#entries,
      unverifiedNodes: new Set(this.#unseen),
      running: this.#running,
      notBefore: (kind, node) => this.#notBefore.get(`${kind} ${node}`) ?? 0,
      nodeFacts: (node) => this.#factsOf(node),
      isPodActive: ({ uid }) => this.pods.some((pod) => pod.uid === uid && pod.life === 'lives'),
    };
  }

  #factsOf(name: string): NodeFacts {
    const { exists, ready, notReadySince, tainted } = this.node(name);
    return {
      exists,
      ready: exists && ready,
      notReadySince: exists && !ready ? notReadySince : undefined,
      off: exists && tainted && !ready,
      paused: this.paused ? { kind: 'Volume', name: 'v1' } : undefined,
    };
  }

  #check(view: ReconcileInput, { start, forced, entries, blocked }: ReconcileDecision): void {
    const shared = this.#volume.nodes.length > 1 && !this.#volume.readOnly;
    for (const { node, reason } of forced) {
      if (shared && reason !== 'out-of-service') throw new Error(`${node} let go of: ${reason}`);
      if (this.#factsOf(node).ready) throw new Error(`${node} let go of, though it is Ready`);
      const needed = this.pods.some(
        (pod) => pod.node === node && pod.life === 'lives' && pod.claim,
      );
      if (reason !== 'out-of-service' && needed)
        throw new Error(`${node} let go of, though a pod is there`);
      const kept = this.#volume.policy === 'Always' && !this.deleting && node === this.#volume.home;
      if (reason === 'timeout' && kept) throw new Error(`${node} let go of, where it is to be`);
    }
    if (new Set(blocked.map(({ node }) => node)).size !== blocked.length)
      throw new Error('blocked twice');
    if (start === undefined) return;
    const { kind, node } = start;
    if (this.#running !== undefined) throw new Error('two operations on one volume');
    if (this.paused && kind !== 'verify') throw new Error(`${kind} while paused`);
    const { exists, off } = this.#factsOf(node);
    const kept = this.#volume.policy === 'Always' && this.#volume.home === node;
    if ((!exists && !kept) || off) throw new Error(`${kind} on ${node}, which is gone`);
    if (view.notBefore(kind, node) > this.now) throw new Error(`${kind} on ${node} too early`);
    const cached = new Set(entries.flatMap(({ pods }) => pods.map(({ uid }) => uid)));
    const wants = this.pods.some(
      ({ uid, life, claim, node: on }) =>
        life === 'lives' && on === node && (claim || cached.has(uid)),
    );
    if (kind === 'detach' && wants && entries.length < 2)
      throw new Error(`detach of what a pod on ${node} needs`);
    if (kind !== 'attach' || this.#volume.readOnly) return;
    for (const holder of this.nodes.values()) {
      // Attachments that the record lacks and that could not be verified are detected by the job,
      // from the owner file.
      const tried =
        view.notBefore('verify', holder.name) > 0 ||
        !holder.exists ||
        this.#factsOf(holder.name).off;
      const missed = this.stale && view.unverifiedNodes.has(holder.name) && tried;
      if (holder.name !== node && holder.device !== 'none' && !missed) {
        throw new Error(`attach to ${node}, while ${holder.name} has it`);
      }
    }
  }

  #set(entries: readonly NodeAttachment[]): void {
    const text = JSON.stringify(recordOf(entries));
    if (text !== this.#records.at(-1)) this.#records.push(text);
    this.#entries = entries;
  }

  /** Records the entry before anything happens on the node. */
  #start(operation: AttachmentOperation): void {
    this.started += 1;
    this.#running = operation;
    const { kind, node, readOnly } = operation;
    if (kind === 'verify') return;
    this.#letGo.delete(node);
    this.#wasThere = this.#entries.some((entry) => entry.node === node);
    const state = kind === 'attach' ? 'Attaching' : 'Detaching';
    this.#set(change(this.#entries, node, { state, readOnly }, this.now));
  }

  /** Returns the running operation if its job continues without the process. */
  #submitted(): AttachmentOperation | undefined {
    const running = this.#running;
    if (running === undefined || running.kind === 'verify') return undefined;
    const { on, answers } = this.node(running.node);
    return on && answers ? running : undefined;
  }

  /** Ends the running operation. */
  finish(outcome: Outcome): void {
    const operation = this.#running;
    if (operation === undefined) return;
    this.#running = undefined;
    const node = this.node(operation.node);
    // Every operation begins with an observation and waits for a running job of the volume.
    if (operation.kind === 'attach' && !this.#wasThere && (!node.on || !node.answers)) {
      this.#delay(operation);
      this.#set(withoutNode(this.#entries, node.name));
      this.#unseen.add(node.name);
    } else if (!node.on || !node.answers || node.pending !== undefined) {
      this.#unknown(operation);
    } else if (outcome === 'lost-and-late' && operation.kind !== 'verify') {
      node.pending = operation;
      this.#unknown(operation);
    } else {
      const done = outcome === 'failed' ? false : this.#effect(operation);
      if (!done) this.#delay(operation);
      if (outcome === 'lost') this.#unknown(operation);
      else this.#learn(node);
    }
  }

  /** Runs one operation from start to end. */
  work(): void {
    this.step();
    this.finish('done');
  }

  /** Ends the job of a node that no process waited for. */
  finishPending(name: string): void {
    const node = this.node(name);
    if (node.pending !== undefined) this.#effect(node.pending);
    node.pending = undefined;
  }

  /** @returns false if the node refuses the operation */
  #effect({ kind, node: name, readOnly }: AttachmentOperation): boolean {
    const node = this.node(name);
    if (kind === 'attach' && node.device === 'none') {
      // Models the owner file.
      const owner = [...this.nodes.values()].find(
        ({ device }) => device === 'rw' || (device === 'ro' && !readOnly),
      );
      if (owner !== undefined && !this.stale)
        throw new Error(`${owner.name} and ${name} both have it`);
      if (owner !== undefined) return false;
      node.device = readOnly ? 'ro' : 'rw';
    }
    if (kind === 'detach') {
      if (this.pods.some(({ node, mounts }) => mounts && node === name)) return false;
      node.device = 'none';
    }
    return true;
  }

  #delay({ kind, node }: AttachmentOperation): void {
    this.#notBefore.set(`${kind} ${node}`, this.now + BACKOFF);
  }

  #unknown(operation: AttachmentOperation): void {
    this.#delay(operation);
    this.#delay({ ...operation, kind: 'verify' });
    const entry = this.#entries.find(({ node }) => node === operation.node);
    if (entry !== undefined)
      this.#set(change(this.#entries, operation.node, { state: 'Uncertain' }, this.now));
  }

  #learn({ name, device }: ModelNode): void {
    this.#unseen.delete(name);
    if (device === 'none') {
      this.#set(withoutNode(this.#entries, name));
      return;
    }
    const found = { state: 'Attached', readOnly: device === 'ro', safeToMount: true } as const;
    this.#set(change(this.#entries, name, found, this.now));
  }

  /** Repairs all failures: each node is back or permanently off; jobs end. */
  calm(): void {
    this.paused = false;
    // Nothing shows that such a pod uses the device; it would hold the device forever.
    for (const pod of this.pods) if (!pod.claim) pod.life = 'gone';
    for (const node of this.nodes.values()) {
      if (node.on || !node.tainted) this.comeBack(node.name);
      else node.exists = true;
      this.finishPending(node.name);
    }
    this.finish('done');
  }

  /** Reconciles until no action follows. */
  settle(): void {
    for (let round = 0; round < 200; round++) {
      this.unmount();
      const next = this.step();
      if (this.#running !== undefined) this.finish('done');
      else if (next.again !== undefined) this.now = next.again;
      else if (next.forced.length === 0) return;
      this.mount();
    }
    throw new Error(`still not settled: ${JSON.stringify(this.#entries)}`);
  }

  /**
   * Nodes that need the volume and may have it, except those that are off. An exclusive volume ends
   * up on only one of them.
   */
  get wantedOn(): string[] {
    const { nodes } = this.#volume;
    return this.#view()
      .wanted.map(({ node }) => node)
      .filter((node) => nodes.includes(node) && !this.#factsOf(node).off);
  }
}
