/** Texts that try to become more than text. */
export const HOSTILE = {
  html: `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script><b>bold</b>`,
  attribute: `"><svg onload=window.pwned=1>`,
  address: "javascript:window.pwned=1",
  ansi: "\u001b[31mred\u001b[0m and \u0007 a bell",
  backwards: "safe \u202egnp.exe\u202c name",
} as const;

export const LONG = "long ".repeat(200_000);
