/** Executors: started when the first client asks, watched, started again after a death, told who will come. */
package io.tessera.manager.executors;
