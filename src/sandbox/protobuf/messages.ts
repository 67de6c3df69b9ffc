/**
 * Fields of the API's messages by number (the generated.proto files of k8s.io/api), as far as
 * `kubectl create`, `kubectl drain` and `kubectl auth can-i` set them. `[]`: repeated; `{}`: a map
 * from strings; `?`: a pointer, for which zero is a value.
 */
export const MESSAGES: Record<string, Record<number, string>> = {
  Namespace: { 1: 'metadata ObjectMeta' },
  ConfigMap: {
    1: 'metadata ObjectMeta',
    2: 'data {}string',
    3: 'binaryData {}bytes',
    4: 'immutable ?bool',
  },
  Secret: {
    1: 'metadata ObjectMeta',
    2: 'data {}bytes',
    3: 'type string',
    4: 'stringData {}string',
    5: 'immutable ?bool',
  },
  ServiceAccount: { 1: 'metadata ObjectMeta' },
  Role: { 1: 'metadata ObjectMeta', 2: 'rules []PolicyRule' },
  ClusterRole: { 1: 'metadata ObjectMeta', 2: 'rules []PolicyRule' },
  RoleBinding: { 1: 'metadata ObjectMeta', 2: 'subjects []Subject', 3: 'roleRef RoleRef' },
  ClusterRoleBinding: { 1: 'metadata ObjectMeta', 2: 'subjects []Subject', 3: 'roleRef RoleRef' },
  Deployment: { 1: 'metadata ObjectMeta', 2: 'spec DeploymentSpec' },
  DeleteOptions: {
    1: 'gracePeriodSeconds ?int',
    2: 'preconditions ?Preconditions',
    4: 'propagationPolicy ?string',
    5: 'dryRun []string',
  },
  SelfSubjectAccessReview: { 1: 'metadata ObjectMeta', 2: 'spec SelfSubjectAccessReviewSpec' },

  ObjectMeta: {
    1: 'name string',
    2: 'generateName string',
    3: 'namespace string',
    11: 'labels {}string',
    12: 'annotations {}string',
    14: 'finalizers []string',
  },
  Preconditions: { 1: 'uid ?string', 2: 'resourceVersion ?string' },
  PolicyRule: {
    1: 'verbs []string',
    2: 'apiGroups []string',
    3: 'resources []string',
    4: 'resourceNames []string',
    5: 'nonResourceURLs []string',
  },
  Subject: { 1: 'kind string', 2: 'apiGroup string', 3: 'name string', 4: 'namespace string' },
  RoleRef: { 1: 'apiGroup string', 2: 'kind string', 3: 'name string' },
  DeploymentSpec: {
    1: 'replicas ?int',
    2: 'selector ?LabelSelector',
    3: 'template PodTemplateSpec',
  },
  LabelSelector: { 1: 'matchLabels {}string' },
  PodTemplateSpec: { 1: 'metadata ObjectMeta', 2: 'spec PodSpec' },
  PodSpec: { 2: 'containers []Container', 8: 'serviceAccountName string' },
  Container: {
    1: 'name string',
    2: 'image string',
    3: 'command []string',
    4: 'args []string',
    6: 'ports []ContainerPort',
  },
  SelfSubjectAccessReviewSpec: {
    1: 'resourceAttributes ?ResourceAttributes',
    2: 'nonResourceAttributes ?NonResourceAttributes',
  },
  ResourceAttributes: {
    1: 'namespace string',
    2: 'verb string',
    3: 'group string',
    4: 'version string',
    5: 'resource string',
    6: 'subresource string',
    7: 'name string',
  },
  NonResourceAttributes: { 1: 'path string', 2: 'verb string' },
  ContainerPort: { 1: 'name string', 3: 'containerPort int', 4: 'protocol string' },
};
