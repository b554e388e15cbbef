/** Decisions about a module before its functions are rewritten, and the state that all fences of one function share. */
package io.tessera.guardian.fence.plan;
