/** The turn lock of one device: who may run, who has to stop, who waits, and what turns cost. */
package io.tessera.manager.schedule.turn;
