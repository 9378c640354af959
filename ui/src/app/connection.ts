/**
 * The tab's connection: the client of this server, the key it uses, what that key may do, and whether the server answers.
 * The key is kept for the tab only, and is sent in a header, never in a URL.
 */
import { computed, signal } from "@preact/signals";
import { connect, type Fetch, HoldfastError, type RemoteMemory, type Rights } from "holdfast/client";

const STORED_KEY = "holdfast-key";

export type Access =
  | { readonly state: "asking" }
  | { readonly state: "needs-key"; readonly message?: string }
  | { readonly state: "unreachable"; readonly error: unknown }
  | { readonly state: "open"; readonly rights: Rights };

export const access = signal<Access>({ state: "asking" });
/** Whether the last request reached the server. */
export const isReachable = signal(true);
/** Grows whenever data that was read before may have changed without an event: a new key, a server that came back. */
export const epoch = signal(0);

const rights = computed(() => (access.value.state === "open" ? access.value.rights : undefined));
export const mayWrite = computed(() => rights.value !== undefined && rights.value.access !== "read");
export const isAdmin = computed(() => rights.value?.access === "admin");
/** The spaces that the key names one by one. */
export const namedSpaces = computed(() => (rights.value?.spaces ?? []).filter((one) => typeof one === "object"));
export const hasKey = computed(() => rights.value?.key !== undefined);

const LEVELS = ["none", "read", "write", "admin"] as const;
/** Whether the key has this access. */
export const mayUse = (level: (typeof LEVELS)[number]): boolean =>
  LEVELS.indexOf(level) <= LEVELS.indexOf(rights.value?.access ?? "none");

const RETRY_MS = 2_000;

/** The server counts as unreachable after a request without a response, and as reachable after any response. */
const watchedFetch: Fetch = async (url, init) => {
  try {
    const response = await fetch(url, init);
    if (response.status === 401) void loseKey();
    if (!isReachable.value) {
      isReachable.value = true;
      epoch.value++;
    }
    return response;
  } catch (error) {
    if (!init.signal?.aborted) isReachable.value = false;
    throw error;
  }
};

function open(key: string | null): RemoteMemory {
  return connect(location.origin, { ...(key !== null && { key }), fetch: watchedFetch, retries: 1 });
}

/** Replaced when the key changes. */
export const memory = signal(open(null));

/** Sends one request unchanged, with the tab's key. For the page that tries the API; other pages use the client. */
export function send(path: string, init: RequestInit = {}): Promise<Response> {
  const key = sessionStorage.getItem(STORED_KEY);
  const headers = { ...init.headers, ...(key !== null && { authorization: `Bearer ${key}` }) };
  return watchedFetch(new URL(path, location.origin).href, { ...init, headers });
}

export async function start(): Promise<void> {
  await use(sessionStorage.getItem(STORED_KEY));
}

/** Uses a key from now on, if the server accepts it. */
export async function use(key: string | null): Promise<void> {
  try {
    const next = open(key);
    const given = await next.caller();
    if (key !== null) sessionStorage.setItem(STORED_KEY, key);
    memory.value = next;
    access.value = { state: "open", rights: given };
    epoch.value++;
  } catch (error) {
    if (error instanceof HoldfastError && (error.code === "unauthorized" || error.code === "invalid_input")) {
      sessionStorage.removeItem(STORED_KEY);
      access.value = { state: "needs-key", ...(key !== null && { message: error.message }) };
      return;
    }
    access.value = { state: "unreachable", error };
    setTimeout(() => void use(key), RETRY_MS);
  }
}

/** Forgets the key. If the server needs none, the app continues without it. */
export async function signOut(): Promise<void> {
  sessionStorage.removeItem(STORED_KEY);
  await use(null);
}

/** The key was revoked or has expired while the app was open. */
async function loseKey(): Promise<void> {
  if (access.value.state !== "open") return;
  sessionStorage.removeItem(STORED_KEY);
  access.value = { state: "needs-key", message: "The key is no longer valid." };
}
