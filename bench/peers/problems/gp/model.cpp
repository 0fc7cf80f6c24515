#include <TMB.hpp>
template <class Type> Type objective_function<Type>::operator()() {
    DATA_VECTOR(x); DATA_VECTOR(y);
    PARAMETER(log_rho); PARAMETER(log_alpha); PARAMETER(log_sigma);
    Type rho = exp(log_rho), alpha = exp(log_alpha), sigma = exp(log_sigma);
    Type log_p = 5 * log_rho - 5 * rho + dnorm(alpha, Type(0), Type(1), true) + log_alpha + dnorm(sigma, Type(0), Type(1), true) + log_sigma;
    matrix<Type> V(x.size(), x.size());
    for (int i = 0; i < x.size(); i++)
        for (int j = 0; j < x.size(); j++)
            V(i, j) = alpha * alpha * exp(-(x(i) - x(j)) * (x(i) - x(j)) / (2 * rho * rho)) + (i == j ? sigma * sigma : Type(0));
    log_p -= density::MVNORM(V)(y);
    ADREPORT(rho); ADREPORT(alpha); ADREPORT(sigma);
    return -log_p;
}
