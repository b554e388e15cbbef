/** Executors: started when the first client asks, watched, started again after a death, told which clients will come. */
package io.tessera.manager.executors;
