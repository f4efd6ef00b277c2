#include "json.h"

bool json_add(cJSON *object, const char *name, cJSON *item) {
    if (item && cJSON_AddItemToObject(object, name, item))
        return true;
    cJSON_Delete(item);
    return false;
}
