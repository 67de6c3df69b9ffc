/**
 * How the lists below a value are patched: `patchStrategy` and `patchMergeKey` of the API's Go types. What is not
 * named here is `replace` for lists, and merged for objects.
 */
export interface Shape {
  /** A list of objects that are the same when this field is. */
  mergeKey?: string;
  /** A list of strings or numbers that is a set. */
  set?: true;
  /** Those of an object, or of each object in the list. */
  fields?: Record<string, Shape>;
}

const list = (mergeKey: string, fields?: Shape['fields']): Shape => ({
  mergeKey,
  ...(fields === undefined ? {} : { fields }),
});
const set: Shape = { set: true };
const object = (fields: NonNullable<Shape['fields']>): Shape => ({ fields });

const metadata = object({ ownerReferences: list('uid'), finalizers: set });
const conditions = list('type');

const containers = list('name', {
  ports: list('containerPort'),
  env: list('name'),
  volumeMounts: list('mountPath'),
  volumeDevices: list('devicePath'),
});

const podSpec = object({
  volumes: list('name', { ephemeral: object({ volumeClaimTemplate: object({ metadata }) }) }),
  initContainers: containers,
  containers,
  ephemeralContainers: containers,
  imagePullSecrets: list('name'),
  hostAliases: list('ip'),
  topologySpreadConstraints: list('topologyKey'),
  schedulingGates: list('name'),
  resourceClaims: list('name'),
});

/** Of an object of a built-in kind; `retainKeys` is not told: it matters to who makes a patch only. */
const SHAPES: Record<string, Record<string, Shape>> = {
  Namespace: { status: object({ conditions }) },
  Node: {
    spec: object({ podCIDRs: set }),
    status: object({ conditions, addresses: list('type') }),
  },
  Pod: {
    spec: podSpec,
    status: object({
      conditions,
      podIPs: list('ip'),
      hostIPs: list('ip'),
      resourceClaimStatuses: list('name'),
    }),
  },
  PersistentVolumeClaim: { status: object({ conditions }) },
  ServiceAccount: { secrets: list('name') },
  Deployment: {
    spec: object({ template: object({ metadata, spec: podSpec }) }),
    status: object({ conditions }),
  },
};

/** How objects of a built-in kind are patched. */
export function shapeOf(kind: string): Shape {
  return object({ metadata, ...SHAPES[kind] });
}
