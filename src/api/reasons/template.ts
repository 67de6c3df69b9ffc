/**
 * Sentences with parameters in braces, as `{device} is in use: {uses}`. What is in brackets is left
 * out where one of its parameters is absent: `{file} is held by node {node}[ since {since}]`.
 */

/** The names of the parameters of a template. */
type NamesIn<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** A template without what is in brackets. */
type Mandatory<Template extends string> =
  Template extends `${infer Before}[${string}]${infer After}`
    ? Mandatory<`${Before}${After}`>
    : Template;

/** The types that a parameter may be given as. It travels as a string. */
export type ParameterValue = string | number | bigint;

/** The parameters of a template: those that are only in brackets may be absent. */
export type ParametersOf<Template extends string> = {
  [Name in NamesIn<Mandatory<Template>>]: ParameterValue;
} & {
  [Name in NamesIn<Template>]?: ParameterValue | undefined;
};

/** The names of the parameters in a template. Pure. */
export const parametersIn = (template: string): string[] =>
  [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

/** Returns the sentence of a template. What has no value, as from another version, is shown as `?`. Pure. */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  const has = (name: string) => Object.hasOwn(values, name);
  return template
    .replaceAll(/\[([^\]]*)\]/g, (_, part: string) => (parametersIn(part).every(has) ? part : ''))
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => (has(name) ? (values[name] ?? '?') : '?'));
}
