/**
 * Patch strategy of the lists below a value: `patchStrategy` and `patchMergeKey` of the API's Go
 * types. By default, lists are replaced and objects merged.
 */
export interface Shape {
  /** Field that identifies the objects in a list. */
  mergeKey?: string;
  /** Marks a list of strings or numbers as a set. */
  set?: true;
  /** Shapes of an object's fields, or of the fields of each object in the list. */
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

/**
 * Shapes of built-in kinds' objects. `retainKeys` is omitted: only clients
 * that create patches need it.
 */
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

/** Returns the shape of a built-in kind's objects. */
export function shapeOf(kind: string): Shape {
  return object({ metadata, ...SHAPES[kind] });
}
