/** Tests of the queue of programs that wait for a place. */
package io.tessera.manager.admission;
