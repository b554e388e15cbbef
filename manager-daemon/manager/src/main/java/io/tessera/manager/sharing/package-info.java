/** Chooses the way of sharing for programs that leave it to the manager. */
package io.tessera.manager.sharing;
