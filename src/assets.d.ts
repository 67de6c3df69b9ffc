declare module '*.sh' {
  const text: string;
  export default text;
}

declare module '*.yaml' {
  const definition: import('./api/crds.ts').CustomResourceDefinition;
  export default definition;
}
