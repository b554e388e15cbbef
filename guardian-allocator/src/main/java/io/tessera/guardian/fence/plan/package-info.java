/** Decisions about a module before its functions are rewritten, and what the fences of one function share. */
package io.tessera.guardian.fence.plan;
