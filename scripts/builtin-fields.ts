/**
 * Writes src/sandbox/builtin/fields.ts: the fields of the sandbox's built-in kinds, taken from the
 * Go types that define them. To change the version of Kubernetes, edit
 * test/cluster/control-plane/go/go.mod, then run `node scripts/builtin-fields.ts`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILTIN_KINDS } from '../src/sandbox/builtin-kinds.ts';

/** Module and directory of each Go package, by the name that other packages import it under. */
const PACKAGES: Record<string, [string, string]> = {
  v1: ['k8s.io/api', 'core/v1'],
  storagev1: ['k8s.io/api', 'storage/v1'],
  appsv1: ['k8s.io/api', 'apps/v1'],
  coordinationv1: ['k8s.io/api', 'coordination/v1'],
  rbacv1: ['k8s.io/api', 'rbac/v1'],
  networkingv1: ['k8s.io/api', 'networking/v1'],
  apiextensionsv1: ['k8s.io/apiextensions-apiserver', 'pkg/apis/apiextensions/v1'],
  metav1: ['k8s.io/apimachinery', 'pkg/apis/meta/v1'],
};
const KIND_PACKAGES: Record<string, string> = {
  '': 'v1',
  'storage.k8s.io': 'storagev1',
  apps: 'appsv1',
  'coordination.k8s.io': 'coordinationv1',
  'rbac.authorization.k8s.io': 'rbacv1',
  'networking.k8s.io': 'networkingv1',
  'apiextensions.k8s.io': 'apiextensionsv1',
};

/** Go types that JSON does not encode as structs. */
const SCALARS: Record<string, string> = {
  'resource.Quantity': 'Quantity',
  'metav1.Time': 'Time',
  'metav1.MicroTime': 'MicroTime',
  'metav1.FieldsV1': 'any',
  'intstr.IntOrString': 'any',
  'types.UID': 'string',
  '[]byte': 'bytes',
  'runtime.RawExtension': 'any',
  'apiextensionsv1.JSON': 'any',
  'apiextensionsv1.JSONSchemaPropsOrArray': 'any',
  'apiextensionsv1.JSONSchemaPropsOrBool': 'any',
  'apiextensionsv1.JSONSchemaPropsOrStringArray': 'any',
};
const BASIC = new Set(['string', 'bool', 'int', 'int32', 'int64', 'float64']);

const module = join(import.meta.dirname, '../test/cluster/control-plane/go');
const go = (...args: string[]) =>
  execFileSync('go', args, { cwd: module, encoding: 'utf8' }).trim();
const folderOf = (name: string) =>
  go('list', '-m', '-f', '{{if .Replace}}{{.Replace.Dir}}{{else}}{{.Dir}}{{end}}', name);

/** Declarations `type NAME struct {…}` and `type NAME OTHER`, by `package.NAME`. */
const declared = new Map<string, string>();
for (const [name, [from, folder]] of Object.entries(PACKAGES)) {
  const files = name === 'apiextensionsv1' ? ['types.go', 'types_jsonschema.go'] : ['types.go'];
  for (const file of files) {
    const text = readFileSync(join(folderOf(from), folder, file), 'utf8');
    for (const [, type = '', body = ''] of text.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms))
      declared.set(`${name}.${type}`, `struct\n${body}`);
    for (const [, type = ''] of text.matchAll(/^type (\w+) struct\s*\{\s*\}/gm))
      declared.set(`${name}.${type}`, 'struct\n');
    for (const [, type = '', other = ''] of text.matchAll(/^type (\w+) ([\w[\].*]+)$/gm))
      declared.set(`${name}.${type}`, other);
  }
}

const structs: Record<string, string[]> = {};

/** Returns the code of a Go type of a package; the generated file's header explains the codes. */
function encode(type: string, from: string): string {
  if (SCALARS[type] !== undefined) return SCALARS[type];
  if (type.startsWith('*')) return `*${encode(type.slice(1), from)}`;
  if (type.startsWith('[]')) return `[${encode(type.slice(2), from)}`;
  const map = /^map\[[\w.]+\](.*)$/.exec(type);
  if (map) return `{${encode(map[1] ?? '', from)}`;
  if (BASIC.has(type)) return type;
  const full = type.includes('.') ? type : `${from}.${type}`;
  if (SCALARS[full] !== undefined) return SCALARS[full];
  // Some packages import core/v1 as corev1.
  const known = declared.has(full) ? full : full.replace(/^corev1\./, 'v1.');
  const body = declared.get(known);
  if (body === undefined) throw new Error(`nothing is known of ${full}`);
  const [home = ''] = known.split('.');
  if (!body.startsWith('struct')) return encode(body, home);
  return structOf(known, body, home);
}

function structOf(name: string, body: string, home: string): string {
  const short = name.replace(/^.*\./, '');
  if (structs[short] === undefined) {
    structs[short] = [];
    structs[short] = fieldsOf(body, home);
  }
  return short;
}

function fieldsOf(body: string, home: string): string[] {
  return [...body.matchAll(/^\t(?:(\w+) +)?([^\s`/]+)\s+`json:"([^"]*)"/gm)].flatMap(
    ([, , type = '', tag = '']) => {
      const [name = '', ...options] = tag.split(',');
      if (options.includes('inline')) {
        if (type === 'metav1.TypeMeta') return ['apiVersion?:string', 'kind?:string'];
        const full = type.includes('.') ? type : `${home}.${type}`;
        return fieldsOf(declared.get(full) ?? '', full.split('.')[0] ?? '');
      }
      if (name === 'managedFields' || name === '-' || name === '') return [];
      const omitted = options.includes('omitempty') ? '?' : '';
      const zero = options.includes('omitzero') ? '?' : '';
      return [`${name}${omitted}${zero}:${encode(type, home)}`];
    },
  );
}

const definition = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' };
for (const { group, kind } of [...BUILTIN_KINDS, definition])
  encode(kind, KIND_PACKAGES[group] ?? '');

const lines = Object.keys(structs)
  .sort()
  .map((name) => `  ${name}: '${structs[name]?.join(' ')}',`);
writeFileSync(
  join(import.meta.dirname, '../src/sandbox/builtin/fields.ts'),
  `// Generated by scripts/builtin-fields.ts from Kubernetes ${go('list', '-m', '-f', '{{.Version}}', 'k8s.io/kubernetes')}.

/**
 * Fields of Go structs as NAME:TYPE. In a type, * is a pointer, [ a slice, { a map, any any value;
 * a struct has its name. NAME? is omitted from JSON when empty (omitempty), NAME?? also when it is
 * a struct of zeros (omitzero).
 */
export const STRUCTS: Record<string, string> = {
${lines.join('\n')}
};
`,
);
