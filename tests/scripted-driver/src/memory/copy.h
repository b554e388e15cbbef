/* Copies and fills, checked and enqueued. */
#ifndef SCRIPTED_COPY_H
#define SCRIPTED_COPY_H

#include "streams/stream.h"

/* Which side has to be what. */
enum side { SIDE_HOST, SIDE_DEVICE, SIDE_ANY };

struct copy_request {
    struct copy_shape shape;
    enum side target, source;
    bool synchronous;
};

/* Checks both sides and enqueues the copy; waits for it when synchronous, or when the driver would. */
CUresult copy_submit(struct stream *stream, const struct copy_request *request);

/* The shapes behind the structures of the 2D and 3D entries. Under the lock. */
CUresult copy_shape_2d(const struct copy_2d *from, struct copy_request *request);
CUresult copy_shape_3d(const struct copy_3d *from, struct copy_request *request);

/* Work for a graph node. Under the lock. */
CUresult copy_work(const struct copy_request *request, struct work **work);
CUresult fill_work(const struct fill_shape *shape, struct work **work);

#endif
