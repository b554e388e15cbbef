/** The turn lock of one device: which clients may run, have to stop, or wait, and what turns cost. */
package io.tessera.manager.schedule.turn;
